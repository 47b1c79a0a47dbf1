package openai

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"
)

// Somebody waits for a stream while it is written: it is tried at most so often, and not after a longer pause.
const (
	streamAttempts = 2
	streamPause    = 3 * time.Second
)

// streamEnd is what a server says after the last piece.
const streamEnd = "[DONE]"

// Stream sends a JSON document as Post does, and hands each piece of an answer of server-sent events to take, in order, as it
// comes. A server that does not stream gives one piece. What can be tried again is tried once more, until a piece has
// come. The error is the context's, a *StatusError, ErrAnswer, that of the network, or that of take, which ends the stream. ended
// tells that the server has said it was the end; of others the last piece may.
func (c *Client) Stream(ctx context.Context, path string, body []byte, limit int64, take func(piece []byte) error) (ended bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	response, err := c.open(ctx, path, body)
	if err != nil {
		return false, err
	}
	defer func() { _ = response.Body.Close() }()
	content := io.LimitReader(response.Body, limit+1)
	mediaType, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if mediaType == "text/event-stream" {
		ended, err = pieces(content, limit, take)
	} else {
		ended, err = true, whole(content, limit, take)
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return ended, err
}

// open gives an answer that has begun.
func (c *Client) open(ctx context.Context, path string, body []byte) (*http.Response, error) {
	for attempt := 1; ; attempt++ {
		response, err := c.send(ctx, path, body, "text/event-stream, application/json")
		if err == nil {
			return response, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		pause, again := c.pause(err, attempt)
		if !again || attempt == min(streamAttempts, c.config.Attempts) || pause > streamPause {
			return nil, err
		}
		if err := sleep(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// whole is an answer in one piece.
func whole(content io.Reader, limit int64, take func([]byte) error) error {
	body, err := io.ReadAll(content)
	switch {
	case err != nil:
		return fmt.Errorf("the model server's answer broke off: %w", err)
	case int64(len(body)) > limit:
		return tooLong(limit)
	}
	return take(body)
}

// pieces reads server-sent events, of which each has its data on one line.
func pieces(content io.Reader, limit int64, take func([]byte) error) (ended bool, err error) {
	lines, read := bufio.NewReader(content), int64(0)
	for {
		line, err := lines.ReadBytes('\n')
		if read += int64(len(line)); read > limit {
			return false, tooLong(limit)
		}
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			data = bytes.TrimSpace(data)
			if string(data) == streamEnd {
				return true, nil
			}
			if err := take(data); err != nil {
				return false, err
			}
		}
		switch err {
		case nil:
		case io.EOF:
			return false, nil
		default:
			return false, fmt.Errorf("the model server's answer broke off: %w", err)
		}
	}
}

func tooLong(limit int64) error { return fmt.Errorf("%w: longer than %d bytes", ErrAnswer, limit) }

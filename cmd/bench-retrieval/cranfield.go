package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
)

// errFormat is the error for files that are not of the Cranfield collection's format.
var errFormat = errors.New("not in the Cranfield format")

// entry is a document or a query.
type entry struct {
	ID    int
	Title string // with which Text begins; "" for none
	Text  string
}

// markdown is a document whose title is a heading.
func (e entry) markdown() string {
	if e.Title == "" {
		return e.Text
	}
	return "# " + strings.Join(strings.Fields(e.Title), " ") + "\n\n" + strings.TrimSpace(strings.TrimPrefix(e.Text, e.Title))
}

// collection is a test collection: documents, queries, and which documents were judged relevant.
type collection struct {
	Documents []entry
	Queries   []entry
	Relevant  map[int]map[int]bool // by query id, then document id
}

// loadCranfield reads cran.all, cran.qry and cranqrel. A query's id is its position in its file,
// from 1, as the judgements count; the numbers in the file have gaps.
func loadCranfield(dir fs.FS) (collection, error) {
	documents, err := readFile(dir, "cran.all", parseRecords)
	if err != nil {
		return collection{}, err
	}
	queries, err := readFile(dir, "cran.qry", parseRecords)
	if err != nil {
		return collection{}, err
	}
	relevant, err := readFile(dir, "cranqrel", parseJudgements)
	if err != nil {
		return collection{}, err
	}
	for i := range queries {
		queries[i].ID = i + 1
	}
	return collection{Documents: documents, Queries: queries, Relevant: relevant}, nil
}

func readFile[T any](dir fs.FS, name string, parse func(io.Reader) (T, error)) (T, error) {
	var none T
	f, err := dir.Open(name)
	if err != nil {
		return none, err
	}
	defer func() { _ = f.Close() }()
	v, err := parse(f)
	if err != nil {
		return none, fmt.Errorf("%s: %w", name, err)
	}
	return v, nil
}

// parseRecords reads records of the form ".I id" with fields .T, .A, .B and .W, and keeps title and
// words, one after the other as they stand: most words begin with the title again, for every search that is compared alike.
func parseRecords(r io.Reader) ([]entry, error) {
	var texts []entry
	var title, words strings.Builder
	var field *strings.Builder
	finish := func() {
		if len(texts) == 0 {
			return
		}
		head, body := strings.TrimSpace(title.String()), strings.TrimSpace(words.String())
		texts[len(texts)-1].Title, texts[len(texts)-1].Text = head, strings.TrimPrefix(head+"\n"+body, "\n")
		title.Reset()
		words.Reset()
	}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line := lines.Text()
		tag, rest, _ := strings.Cut(line, " ")
		id, err := strconv.Atoi(strings.TrimSpace(rest))
		switch {
		case tag == ".I" && err == nil: // a stray ".I" without a number is text
			finish()
			texts, field = append(texts, entry{ID: id}), nil
		case line == ".T":
			field = &title
		case line == ".W":
			field = &words
		case line == ".A", line == ".B":
			field = nil
		default:
			if len(texts) == 0 {
				return nil, fmt.Errorf("%w: text before the first record", errFormat)
			}
			if field != nil {
				field.WriteString(line + "\n")
			}
		}
	}
	finish()
	return texts, lines.Err()
}

// parseJudgements reads lines of query id, document id and grade. Every judged pair counts as
// relevant (grades are 1 to 4); -1, which stands for the query's own source in some copies, as well.
func parseJudgements(r io.Reader) (map[int]map[int]bool, error) {
	relevant := map[int]map[int]bool{}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 {
			continue
		}
		if len(fields) < 2 {
			return nil, fmt.Errorf("%w: judgement %q", errFormat, lines.Text())
		}
		query, err := strconv.Atoi(fields[0])
		if err != nil {
			return nil, fmt.Errorf("%w: query %q", errFormat, fields[0])
		}
		document, err := strconv.Atoi(fields[1])
		if err != nil {
			return nil, fmt.Errorf("%w: document %q", errFormat, fields[1])
		}
		if relevant[query] == nil {
			relevant[query] = map[int]bool{}
		}
		relevant[query][document] = true
	}
	return relevant, lines.Err()
}

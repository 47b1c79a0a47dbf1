package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
)

// record is a line of a BEIR folder's corpus or queries.
type record struct {
	ID    string `json:"_id"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

// maxLine bounds a line of a BEIR folder, in bytes.
const maxLine = 16 << 20

// loadBEIR reads corpus.jsonl, queries.jsonl and qrels/test.tsv. What has any text as its id gets a number.
func loadBEIR(dir fs.FS) (collection, error) {
	documents, ofDocument, err := readRecords(dir, "corpus.jsonl")
	if err != nil {
		return collection{}, err
	}
	queries, ofQuery, err := readRecords(dir, "queries.jsonl")
	if err != nil {
		return collection{}, err
	}
	relevant, err := readFile(dir, "qrels/test.tsv", func(r io.Reader) (map[int]map[int]bool, error) { return parseQrels(r, ofQuery, ofDocument) })
	return collection{Documents: documents, Queries: queries, Relevant: relevant}, err
}

// readRecords reads a file of records, and which number each id has, from 1.
func readRecords(dir fs.FS, name string) (list []entry, numbers map[string]int, err error) {
	numbers = map[string]int{}
	list, err = readFile(dir, name, func(r io.Reader) (list []entry, err error) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, maxLine)
		for lines.Scan() {
			var one record
			if err := json.Unmarshal(lines.Bytes(), &one); err != nil || one.ID == "" {
				return nil, fmt.Errorf("%w: line %d", errFormat, len(list)+1)
			}
			numbers[one.ID] = len(list) + 1
			list = append(list, entry{ID: len(list) + 1, Title: one.Title, Text: strings.TrimSpace(one.Title + "\n" + one.Text)})
		}
		return list, lines.Err()
	})
	return list, numbers, err
}

// parseQrels reads lines of query id, document id and grade, below a header. A grade above 0 is relevant.
func parseQrels(r io.Reader, queries, documents map[string]int) (map[int]map[int]bool, error) {
	relevant := map[int]map[int]bool{}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		fields := strings.Split(strings.TrimSpace(lines.Text()), "\t")
		if n == 1 || fields[0] == "" {
			continue
		}
		if len(fields) != 3 {
			return nil, fmt.Errorf("%w: line %d", errFormat, n)
		}
		grade, err := strconv.Atoi(fields[2])
		query, document := queries[fields[0]], documents[fields[1]]
		if err != nil || query == 0 {
			return nil, fmt.Errorf("%w: line %d", errFormat, n)
		}
		if grade <= 0 || document == 0 { // some judge what their corpus no longer has
			continue
		}
		if relevant[query] == nil {
			relevant[query] = map[int]bool{}
		}
		relevant[query][document] = true
	}
	return relevant, lines.Err()
}

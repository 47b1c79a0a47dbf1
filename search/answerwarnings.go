package search

import "fmt"

// AnswerWarning is what is wrong with an answer, or with a part of it.
type AnswerWarning struct {
	Code, Message string
	// Start and End are the sentence that it is about; nil for the whole answer.
	Start, End *int
}

// The codes of warnings about answers.
const (
	CitationRemoved = "citation_removed"
	Uncited         = "uncited"
	CutOff          = "cut_off"
	ModelFailed     = "model_failed"
)

// maxAnswerWarnings bounds those of one answer.
const maxAnswerWarnings = 50

func (a *Answer) warn(code string, at *Span, format string, args ...any) {
	if len(a.Warnings) >= maxAnswerWarnings {
		return
	}
	w := &AnswerWarning{Code: code, Message: fmt.Sprintf(format, args...)}
	if at != nil {
		w.Start, w.End = &at.Start, &at.End
	}
	a.Warnings = append(a.Warnings, w)
}

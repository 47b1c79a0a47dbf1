package jobs

import (
	"encoding/json"
	"fmt"
	"slices"

	"canopy/db"
	"canopy/internal/extract"
)

// maxWarnings bounds what is told of one document.
const maxWarnings = 20

// warningsOf tells what a document lacks: the pages on which there is no text, such as those that are pictures. A page without
// text has no mark.
func warningsOf(d *extract.Document) (json.RawMessage, error) {
	var list []db.DocumentWarning
	missing, more := 1, 0
	gap := func(before int) {
		if missing >= before {
			return
		}
		if len(list) == maxWarnings {
			more += before - missing
			return
		}
		list = append(list, withoutText(missing, before-1))
	}
	for m, err := range d.Marks() {
		if err != nil {
			return nil, err
		}
		if m.Page > 0 {
			gap(m.Page)
			missing = max(missing, m.Page+1)
		}
	}
	if gap(d.Pages + 1); more > 0 {
		list = append(list, db.DocumentWarning{Code: noText, Message: fmt.Sprintf("%d further pages have no text", more)})
	}
	if list == nil {
		return json.RawMessage("[]"), nil
	}
	return json.Marshal(list)
}

// The codes of warnings: of pages without text, and of a document that is what it was before it was to be processed anew.
const noText, notReprocessed = "no_text", "not_reprocessed"

// warningsOfStay are those of a document that stays what it was: those that it had, and why it could not be processed anew.
func warningsOfStay(before json.RawMessage, sentence string) (json.RawMessage, error) {
	var list []db.DocumentWarning
	if err := json.Unmarshal(before, &list); err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(w db.DocumentWarning) bool { return w.Code == notReprocessed })
	return json.Marshal(append(list, db.DocumentWarning{
		Code: notReprocessed, Message: "The document could not be processed anew, and is found as it was before. " + sentence,
	}))
}

func withoutText(first, last int) db.DocumentWarning {
	w := db.DocumentWarning{Code: noText, Message: fmt.Sprintf("pages %d-%d have no text", first, last), Page: &first}
	if first == last {
		w.Message = fmt.Sprintf("page %d has no text", first)
	}
	return w
}

package extract

import (
	"regexp"
	"strings"

	"github.com/klippa-app/go-pdfium/enums"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/structs"
)

// The bounds of the forms of one document. The engine takes longer for each field the more there are on a page, and for each option the
// more its list has.
const (
	maxWidgets = 5_000 // fields that are looked at, each as often as it is shown
	maxOptions = 5_000 // options that are looked at
	longList   = 500   // options of one list; of a longer one the value for programs is told
)

// fieldPassword is the flag of a field that shows what is typed as dots (ISO 32000-1, 12.7.4.3).
const fieldPassword = 1 << 13

// pdfForm is what the engine keeps for the fields of a document.
type pdfForm struct {
	handle           references.FPDF_FORMHANDLE
	widgets, options int // that may still be looked at
}

// openForm makes the document's fields readable, if it has any.
func (d *pdfDocument) openForm() {
	d.form = nil
	kind, err := d.instance.FPDF_GetFormType(&requests.FPDF_GetFormType{Document: d.doc})
	if err != nil || kind.FormType == enums.FPDF_FORMTYPE_NONE {
		return
	}
	env, err := d.instance.FPDFDOC_InitFormFillEnvironment(&requests.FPDFDOC_InitFormFillEnvironment{Document: d.doc, FormFillInfo: nobodyFills})
	if err == nil {
		d.form = &pdfForm{env.FormHandle, maxWidgets, maxOptions}
	}
}

// nobodyFills is what the engine may ask of who fills a form.
var nobodyFills = structs.FPDF_FORMFILLINFO{
	FFI_Invalidate:         func(references.FPDF_PAGE, float64, float64, float64, float64) {},
	FFI_SetCursor:          func(enums.FXCT) {},
	FFI_SetTimer:           func(int, func(int)) int { return 0 },
	FFI_KillTimer:          func(int) {},
	FFI_GetLocalTime:       func() structs.FPDF_SYSTEMTIME { return structs.FPDF_SYSTEMTIME{} },
	FFI_GetPage:            func(references.FPDF_DOCUMENT, int) *references.FPDF_PAGE { return nil },
	FFI_GetRotation:        func(references.FPDF_PAGE) enums.FPDF_PAGE_ROTATION { return enums.FPDF_PAGE_ROTATION_NONE },
	FFI_ExecuteNamedAction: func(string) {},
}

// formValues gives what was filled in on a page, a line for each field. An error is a fault of the engine.
func (d *pdfDocument) formValues(index int) (string, error) {
	if d.form == nil {
		return "", nil
	}
	page := requests.Page{ByIndex: &requests.PageByIndex{Document: d.doc, Index: index}}
	count, err := d.instance.FPDFPage_GetAnnotCount(&requests.FPDFPage_GetAnnotCount{Page: page})
	if err != nil || count.Count == 0 {
		return "", err
	}
	var lines strings.Builder
	for i := range count.Count {
		if d.form.widgets--; d.form.widgets < 0 {
			break
		}
		got, err := d.instance.FPDFPage_GetAnnot(&requests.FPDFPage_GetAnnot{Page: page, Index: i})
		if err != nil {
			continue
		}
		f := &pdfField{d, got.Annotation}
		if line := f.line(); line != "" {
			lines.WriteString(line + "\n")
		}
		if _, err := d.instance.FPDFPage_CloseAnnot(&requests.FPDFPage_CloseAnnot{Annotation: got.Annotation}); err != nil {
			return "", err
		}
	}
	return lines.String(), nil
}

// pdfField is a field where it is shown. What can't be read of it is as if it were not there.
type pdfField struct {
	*pdfDocument
	at references.FPDF_ANNOTATION
}

// line names the field and what was filled in; "" where that is nothing, or not to be seen.
func (f *pdfField) line() string {
	kind, err := f.instance.FPDFAnnot_GetSubtype(&requests.FPDFAnnot_GetSubtype{Annotation: f.at})
	if err != nil || kind.Subtype != enums.FPDF_ANNOT_SUBTYPE_WIDGET || f.hidden() {
		return ""
	}
	value := strings.Join(strings.Fields(cleanField(f.value())), " ")
	if value == "" {
		return ""
	}
	if label := f.label(); label != "" {
		return label + ": " + value
	}
	return value
}

func cleanField(s string) string { return clean(strings.ToValidUTF8(s, "")) }

func (f *pdfField) hidden() bool {
	flags, err := f.instance.FPDFAnnot_GetFlags(&requests.FPDFAnnot_GetFlags{Annotation: f.at})
	return err != nil || flags.Flags&(enums.FPDF_ANNOT_FLAG_HIDDEN|enums.FPDF_ANNOT_FLAG_NOVIEW) != 0
}

// label is the field's name for people, or else the last part of its name for programs.
func (f *pdfField) label() string {
	if told, err := f.instance.FPDFAnnot_GetFormFieldAlternateName(&requests.FPDFAnnot_GetFormFieldAlternateName{FormHandle: f.form.handle, Annotation: f.at}); err == nil {
		if label := shortHeading(cleanField(told.FormFieldAlternateName)); label != "" {
			return strings.TrimRight(label, ": ")
		}
	}
	named, err := f.instance.FPDFAnnot_GetFormFieldName(&requests.FPDFAnnot_GetFormFieldName{FormHandle: f.form.handle, Annotation: f.at})
	if err != nil {
		return ""
	}
	name := fieldIndex.ReplaceAllString(cleanField(named.FormFieldName), "")
	return strings.TrimRight(shortHeading(name[strings.LastIndexByte(name, '.')+1:]), ": ")
}

// fieldIndex is what tells fields of one name apart, as in "form[0].street[1]".
var fieldIndex = regexp.MustCompile(`\[\d+\]`)

// value is what was filled in.
func (f *pdfField) value() string {
	kind, err := f.instance.FPDFAnnot_GetFormFieldType(&requests.FPDFAnnot_GetFormFieldType{FormHandle: f.form.handle, Annotation: f.at})
	if err != nil {
		return ""
	}
	switch kind.FormFieldType {
	case enums.FPDF_FORMFIELD_TYPE_TEXTFIELD:
		if f.password() {
			return ""
		}
	case enums.FPDF_FORMFIELD_TYPE_CHECKBOX, enums.FPDF_FORMFIELD_TYPE_RADIOBUTTON:
		return f.checked()
	case enums.FPDF_FORMFIELD_TYPE_COMBOBOX, enums.FPDF_FORMFIELD_TYPE_LISTBOX:
		if chosen := f.chosen(); chosen != "" {
			return chosen
		}
	default:
		return ""
	}
	got, err := f.instance.FPDFAnnot_GetFormFieldValue(&requests.FPDFAnnot_GetFormFieldValue{FormHandle: f.form.handle, Annotation: f.at})
	if err != nil {
		return ""
	}
	return got.FormFieldValue
}

func (f *pdfField) password() bool {
	flags, err := f.instance.FPDFAnnot_GetFormFieldFlags(&requests.FPDFAnnot_GetFormFieldFlags{FormHandle: f.form.handle, Annotation: f.at})
	return err != nil || flags.Flags&fieldPassword != 0
}

// checked is the name of what a box or button shows, if it is on (ISO 32000-1, 12.7.4.2).
func (f *pdfField) checked() string {
	state, err := f.instance.FPDFAnnot_GetStringValue(&requests.FPDFAnnot_GetStringValue{Annotation: f.at, Key: "AS"})
	if err != nil || state.Value == "Off" {
		return ""
	}
	return state.Value
}

// chosen are the options that were chosen, as they are shown.
func (f *pdfField) chosen() string {
	count, err := f.instance.FPDFAnnot_GetOptionCount(&requests.FPDFAnnot_GetOptionCount{FormHandle: f.form.handle, Annotation: f.at})
	if err != nil || count.OptionCount > min(longList, f.form.options) {
		return ""
	}
	f.form.options -= count.OptionCount
	var list []string
	for i := range count.OptionCount {
		is, err := f.instance.FPDFAnnot_IsOptionSelected(&requests.FPDFAnnot_IsOptionSelected{FormHandle: f.form.handle, Annotation: f.at, Index: i})
		if err != nil || !is.IsOptionSelected {
			continue
		}
		shown, err := f.instance.FPDFAnnot_GetOptionLabel(&requests.FPDFAnnot_GetOptionLabel{FormHandle: f.form.handle, Annotation: f.at, Index: i})
		if err == nil {
			list = append(list, shown.OptionLabel)
		}
	}
	return strings.Join(list, ", ")
}

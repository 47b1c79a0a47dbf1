package extract

// Reason is the machine-readable class of a Failure.
type Reason string

// The reasons why a document can't be read.
const (
	ReasonType        Reason = "unsupported_type" // the name's extension is not one of ours
	ReasonContent     Reason = "wrong_content"    // the content is not of the type that the extension says
	ReasonEmpty       Reason = "empty"            // no bytes
	ReasonNoText      Reason = "no_text"          // readable, but without any text
	ReasonEncrypted   Reason = "encrypted"        // needs a password
	ReasonDamaged     Reason = "damaged"          // breaks its format's rules
	ReasonTooLarge    Reason = "too_large"        // more text, pages or parts than the limits allow
	ReasonMemory      Reason = "memory"           // the reader reached its memory limit
	ReasonTimeout     Reason = "timeout"          // the reader reached its deadline
	ReasonUnsupported Reason = "unsupported"      // a dialect of the format that can't be read
)

// Failure is the error of a document that can't be read, however often it is tried.
type Failure struct {
	Reason Reason `json:"reason"`
	// Message is one sentence for the person who uploaded the document; it names no internals.
	Message string `json:"message"`
}

func (f *Failure) Error() string { return f.Message }

// Is makes errors.Is compare by reason, so that &Failure{Reason: ReasonEncrypted} finds every one.
func (f *Failure) Is(target error) bool {
	other, ok := target.(*Failure)
	return ok && other.Reason == f.Reason
}

var (
	failEmpty        = &Failure{ReasonEmpty, "The file is empty."}
	failNoText       = &Failure{ReasonNoText, "The document has no text."}
	failNoTextLayer  = &Failure{ReasonNoText, "The PDF has no text layer (a scan?)."}
	failPDFEncrypted = &Failure{ReasonEncrypted, "The PDF is encrypted."}
	failEncrypted    = &Failure{ReasonEncrypted, "The document is encrypted."}
	failDamaged      = &Failure{ReasonDamaged, "The file is damaged."}
	failCrash        = &Failure{ReasonDamaged, "The file could not be read; it may be damaged."}
	failTooLarge     = &Failure{ReasonTooLarge, "The document holds more text than can be processed."}
	failUnpacked     = &Failure{ReasonTooLarge, "The document is too large when unpacked."}
	failPages        = &Failure{ReasonTooLarge, "The document has too many pages."}
	failMemory       = &Failure{ReasonMemory, "The document needs too much memory to be read."}
	failTimeout      = &Failure{ReasonTimeout, "The document took too long to be read."}
	failOldWord      = &Failure{ReasonUnsupported, "The document was made by a version of Word that is too old; save it as .docx."}
	failRenamedDoc   = &Failure{ReasonContent, "The file is a .doc document with the name of a .docx."}
	failNotWord      = &Failure{ReasonContent, "The file is not a Word document."}

	failNotSlides       = &Failure{ReasonContent, "The file is not a PowerPoint presentation."}
	failNotWorkbook     = &Failure{ReasonContent, "The file is not an Excel workbook."}
	failNotOpenDocument = &Failure{ReasonContent, "The file is not an OpenDocument text."}
	failNotBook         = &Failure{ReasonContent, "The file is not an EPUB book."}
)

package extract

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
)

// recognition is what a child does that turns itself into Tesseract, which reads a picture on standard input and writes its text.
type recognition struct {
	Program, Languages string
	DPI                int
}

// recognise confines this process as far as the program can bear, and runs the program in its place. It returns only where that fails.
func (w *recognition) recognise(limits Limits, errs io.Writer) int {
	env := []string{"LC_ALL=C.UTF-8", "OMP_THREAD_LIMIT=1"}
	folders := []string{"/usr", "/lib", "/lib64", filepath.Dir(w.Program)}
	if models := os.Getenv(modelsFolder); models != "" {
		env, folders = append(env, modelsFolder+"="+models), append(folders, models)
	}
	if err := confineTool(limits, folders); err != nil {
		tell(errs, unconfined, err)
	}
	err := runInstead(w.Program, []string{"tesseract", "stdin", "stdout", "-l", w.Languages, "--dpi", strconv.Itoa(w.DPI)}, env)
	_, _ = fmt.Fprintf(errs, "extract: run %s: %v\n", w.Program, err)
	return 2
}

// modelsFolder is the variable by which Tesseract is told where its models are.
const modelsFolder = "TESSDATA_PREFIX"

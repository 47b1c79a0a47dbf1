// Package child has a program that imports it be the child that its Runner starts, before most of the program is there: packages are
// initialised in the order of their import paths, as soon as all that they import is (the language's specification, "Program
// initialization"), and this one imports what reads documents, and no more. What the rest of a program takes for its beginning, tables and
// schemas, is half of what a child of a small document would cost otherwise.
package child

import "canopy/internal/extract"

func init() { extract.MainIfChild() }

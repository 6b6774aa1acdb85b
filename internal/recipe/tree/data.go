package tree

// Data is the content of a file of the tree, read anew; the caller may write to it.
// Its errors do not name the file.
func (t *Tree) Data(path string) ([]byte, error) { return readFile(t.fsys, path) }

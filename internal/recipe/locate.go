package recipe

// Locate is the directory of the tree that Open(dir) reads: dir, or its directory
// recipes. Whoever writes to a tree asks for it.
func Locate(dir string) (string, error) { return locate(dir) }

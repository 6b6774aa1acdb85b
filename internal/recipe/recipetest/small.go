package recipetest

import (
	"embed"
	"fmt"
	"io/fs"
	"testing/fstest"
)

//go:embed testdata/small
var small embed.FS

// Small is a tree with something of everything; it loads without problems. Each
// call makes a copy that may be written to.
func Small() fstest.MapFS {
	root, err := fs.Sub(small, "testdata/small")
	if err != nil {
		panic(fmt.Sprintf("recipetest: %v", err)) // it is embedded
	}
	return Copy(root)
}

// Copy is a file system as one that may be written to.
func Copy(from fs.FS) fstest.MapFS {
	out := fstest.MapFS{}
	err := fs.WalkDir(from, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(from, path)
		out[path] = &fstest.MapFile{Data: data, Mode: 0o644}
		return err
	})
	if err != nil {
		panic(fmt.Sprintf("recipetest: %v", err))
	}
	return out
}

// Edit puts files into a copy of a tree; an empty text takes one away.
func Edit(from fs.FS, files map[string]string) fstest.MapFS {
	out := Copy(from)
	for path, text := range files {
		if text == "" {
			delete(out, path)
			continue
		}
		out[path] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	return out
}

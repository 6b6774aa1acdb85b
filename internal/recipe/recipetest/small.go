package recipetest

import (
	"embed"
	"fmt"
	"io/fs"
	"testing/fstest"
)

//go:embed testdata/small
var small embed.FS

// Small returns a modifiable tree with every feature; it loads without problems.
func Small() fstest.MapFS {
	root, err := fs.Sub(small, "testdata/small")
	if err != nil {
		panic(fmt.Sprintf("recipetest: %v", err)) // an embedded file system cannot fail
	}
	return Copy(root)
}

// Copy returns a modifiable copy of a file system.
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

// Edit returns a copy of a tree with files replaced; an empty text removes a file.
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

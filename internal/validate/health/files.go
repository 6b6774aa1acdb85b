package health

import (
	"io/fs"
	"path"
	"strings"
	"time"
)

// fileSet is an in-memory fs.FS of the files that an assertion file may refer to. It has no
// directories.
type fileSet map[string]string

var (
	_ fs.ReadFileFS = fileSet{}
	_ fs.GlobFS     = fileSet{}
)

// Open implements fs.FS.
func (b fileSet) Open(name string) (fs.File, error) {
	text, ok := b[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &file{strings.NewReader(text), name}, nil
}

// ReadFile implements fs.ReadFileFS.
func (b fileSet) ReadFile(name string) ([]byte, error) {
	text, ok := b[name]
	if !ok {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
	}
	return []byte(text), nil
}

// Glob implements fs.GlobFS.
func (b fileSet) Glob(pattern string) ([]string, error) {
	var out []string
	for name := range b {
		ok, err := path.Match(pattern, name)
		if err != nil {
			return nil, &fs.PathError{Op: "glob", Path: pattern, Err: err}
		}
		if ok {
			out = append(out, name)
		}
	}
	return out, nil
}

// file is an open file of a fileSet.
type file struct {
	*strings.Reader
	name string
}

func (f *file) Stat() (fs.FileInfo, error) { return f, nil }
func (f *file) Close() error               { return nil }
func (f *file) Name() string               { return path.Base(f.name) }
func (f *file) Mode() fs.FileMode          { return 0o444 }
func (f *file) ModTime() time.Time         { return time.Time{} }
func (f *file) IsDir() bool                { return false }
func (f *file) Sys() any                   { return nil }

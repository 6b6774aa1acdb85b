package health

import (
	"io/fs"
	"path"
	"strings"
	"time"
)

// beside are files in memory: what an assertion file may refer to. They are read
// whole or found by a pattern; directories there are none.
type beside map[string]string

var (
	_ fs.ReadFileFS = beside{}
	_ fs.GlobFS     = beside{}
)

// Open implements fs.FS.
func (b beside) Open(name string) (fs.File, error) {
	text, ok := b[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &file{strings.NewReader(text), name}, nil
}

// ReadFile implements fs.ReadFileFS.
func (b beside) ReadFile(name string) ([]byte, error) {
	text, ok := b[name]
	if !ok {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
	}
	return []byte(text), nil
}

// Glob implements fs.GlobFS.
func (b beside) Glob(pattern string) ([]string, error) {
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

// file is one of them, open.
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

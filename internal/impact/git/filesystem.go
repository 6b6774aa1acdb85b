package git

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"time"
)

// Open implements fs.FS.
func (f *Files) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	if file, ok := f.files[name]; ok {
		if file.err != nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: file.err}
		}
		return &openFile{file: file, Reader: bytes.NewReader(file.data)}, nil
	}
	if list, ok := f.dirs[name]; ok {
		return &openDir{name: path.Base(name), left: list}, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// ReadDir implements fs.ReadDirFS.
func (f *Files) ReadDir(name string) ([]fs.DirEntry, error) {
	list, ok := f.dirs[name]
	if !ok {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrNotExist}
	}
	return slices.Clone(list), nil
}

type file struct {
	name, id string
	link     bool
	data     []byte
	err      error
}

type openFile struct {
	*bytes.Reader
	file *file
}

func (o *openFile) Stat() (fs.FileInfo, error) {
	return info{name: path.Base(o.file.name), size: int64(len(o.file.data))}, nil
}
func (o *openFile) Close() error { return nil }

type openDir struct {
	name string
	left []fs.DirEntry
}

func (o *openDir) Stat() (fs.FileInfo, error) { return info{name: o.name, dir: true}, nil }
func (o *openDir) Close() error               { return nil }
func (o *openDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: o.name, Err: errors.New("is a directory")}
}

// ReadDir implements fs.ReadDirFile.
func (o *openDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if n > 0 && len(o.left) == 0 {
		return nil, io.EOF
	}
	if n <= 0 || n > len(o.left) {
		n = len(o.left)
	}
	out := slices.Clone(o.left[:n])
	o.left = o.left[n:]
	return out, nil
}

type info struct {
	name string
	size int64
	dir  bool
}

func (i info) Name() string { return i.name }
func (i info) Size() int64  { return i.size }
func (i info) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | 0o555
	}
	return 0o444
}
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.dir }
func (i info) Sys() any           { return nil }

type dirEntry struct {
	name string
	file *file // nil for a directory
}

func (d dirEntry) Name() string { return d.name }
func (d dirEntry) IsDir() bool  { return d.file == nil }
func (d dirEntry) Type() fs.FileMode {
	if d.IsDir() {
		return fs.ModeDir
	}
	return 0
}

func (d dirEntry) Info() (fs.FileInfo, error) {
	if d.IsDir() {
		return info{name: d.name, dir: true}, nil
	}
	return info{name: d.name, size: int64(len(d.file.data))}, nil
}

// Command pack writes files to an archive that the binary embeds. Equal files give an equal archive.
//
//	pack [-in DIR] -to FILE NAME...
//
// NAME is a file or a directory, in DIR.
package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
)

func main() {
	in := flag.String("in", ".", "directory of the files")
	to := flag.String("to", "", "archive to write")
	flag.Parse()
	if err := run(os.DirFS(*in), *to, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func run(in fs.FS, to string, names []string) error {
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(out, flate.BestCompression)
	})
	var errs []error
	for _, name := range names {
		errs = append(errs, fs.WalkDir(in, name, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			return add(w, in, path)
		}))
	}
	if err := errors.Join(append(errs, w.Close())...); err != nil {
		return err
	}
	return os.WriteFile(to, archive.Bytes(), 0o644) //nolint:gosec // a file of the repository
}

// add writes a file without its modification time.
func add(w *zip.Writer, in fs.FS, path string) error {
	text, err := fs.ReadFile(in, path)
	if err != nil {
		return err
	}
	f, err := w.CreateHeader(&zip.FileHeader{Name: path, Method: zip.Deflate})
	if err != nil {
		return fmt.Errorf("pack %s: %w", path, err)
	}
	if _, err := f.Write(text); err != nil {
		return fmt.Errorf("pack %s: %w", path, err)
	}
	return nil
}

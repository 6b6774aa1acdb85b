// Command pack writes manifests to the archive that the binary embeds. Equal files give an equal
// archive.
//
//	pack -to FILE NAME...
//
// NAME is a file or a directory.
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
	"path/filepath"
)

func main() {
	to := flag.String("to", "", "archive to write")
	flag.Parse()
	if err := run(*to, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func run(to string, names []string) error {
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(out, flate.BestCompression)
	})
	var errs []error
	for _, name := range names {
		errs = append(errs, filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			return add(w, path)
		}))
	}
	if err := errors.Join(append(errs, w.Close())...); err != nil {
		return err
	}
	return os.WriteFile(to, archive.Bytes(), 0o644) //nolint:gosec // a file of the repository
}

// add writes a file without its modification time.
func add(w *zip.Writer, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	f, err := w.CreateHeader(&zip.FileHeader{Name: filepath.ToSlash(path), Method: zip.Deflate})
	if err != nil {
		return fmt.Errorf("pack %s: %w", path, err)
	}
	if _, err := f.Write(text); err != nil {
		return fmt.Errorf("pack %s: %w", path, err)
	}
	return nil
}

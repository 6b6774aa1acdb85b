// Command licenses lists the licences of the modules that firstlight links, and fails where one is
// not of those that policy.yaml allows.
//
//	licenses [-write FILE] [PACKAGE...]
//
// A module's licences are recognised from its licence files (LICENSE, COPYING, UNLICENSE, at its
// root). A module without such a file, and a file that is not recognised, are refused: an unknown
// licence is not allowed.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	write := flag.String("write", "", "file to write the list to; without one it is printed")
	flag.Parse()
	err := run(ctx, *write, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, write string, packages []string) error {
	if len(packages) == 0 {
		packages = []string{"./cmd/firstlight"}
	}
	page, err := list(ctx, ".", packages)
	if page != nil {
		if write == "" {
			_, writeErr := os.Stdout.Write(page)
			err = errors.Join(err, writeErr)
		} else {
			err = errors.Join(err, os.WriteFile(write, page, 0o644)) //nolint:gosec // a page of the documentation
		}
	}
	return err
}

// list makes the page of the licences of what the packages link. The error names every module
// that is refused; the page lists it as well.
func list(ctx context.Context, dir string, packages []string) ([]byte, error) {
	p, err := loadPolicy()
	if err != nil {
		return nil, err
	}
	modules, err := linked(ctx, dir, packages)
	if err != nil {
		return nil, err
	}
	var refused []error
	var rows []row
	for _, m := range modules {
		files, err := licenceFiles(m.Dir)
		if err != nil {
			return nil, fmt.Errorf("read the licences of %s: %w", m.Path, err)
		}
		ids, err := p.judge(m.Path, files)
		if err != nil {
			refused = append(refused, fmt.Errorf("%s %s: %w", m.Path, m.Version, err))
		}
		rows = append(rows, row{module: m, ids: ids})
	}
	var page bytes.Buffer
	writePage(&page, rows)
	return page.Bytes(), errors.Join(refused...)
}

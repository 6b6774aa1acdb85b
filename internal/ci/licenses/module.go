package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
)

// module is a linked module in the output of go list.
type module struct {
	Path, Version, Dir string
	Main               bool
}

// linked are the modules of others that these packages link on linux/amd64, where releases are
// built for.
func linked(ctx context.Context, dir string, packages []string) ([]module, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-deps", "-json=Module"}, packages...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0", "GOWORK=off")
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("list modules: %w: %s", err, complaints.Bytes())
	}
	byPath := map[string]module{}
	repository := ""
	for dec := json.NewDecoder(&out); ; {
		var of struct{ Module *module }
		if err := dec.Decode(&of); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("list modules: %w", err)
		}
		if m := of.Module; m != nil { // nil: the standard library
			byPath[m.Path] = *m
			if m.Main {
				repository = m.Dir
			}
		}
	}
	var all []module
	for _, m := range byPath {
		if rel, err := filepath.Rel(repository, m.Dir); err != nil || !filepath.IsLocal(rel) {
			all = append(all, m) // others are of this repository: itself, and what it has in the place of a module
		}
	}
	if len(all) == 0 {
		return nil, errors.New("list modules: none is linked")
	}
	slices.SortFunc(all, func(a, b module) int { return cmp.Compare(a.Path, b.Path) })
	return all, nil
}

var licenceName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|unlicense)([-._].*)?$`)

// licenceFiles are the texts of a module's licence files by their names.
func licenceFiles(dir string) (map[string][]byte, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, e := range entries {
		if !e.Type().IsRegular() || !licenceName.MatchString(e.Name()) || filepath.Ext(e.Name()) == ".go" {
			continue
		}
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			return nil, err
		}
	}
	return files, nil
}

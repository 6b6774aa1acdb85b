// Command copypins copies go.mod and go.sum of every module of pins to a directory for embedding:
// a Go module cannot embed files of another module.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	from := flag.String("from", "", "directory of the modules")
	to := flag.String("to", "", "directory of the copies")
	flag.Parse()
	if err := run(*from, *to); err != nil {
		fmt.Fprintln(os.Stderr, "copypins:", err)
		os.Exit(1)
	}
}

func run(from, to string) error {
	mods, err := filepath.Glob(filepath.Join(from, "*", "go.mod"))
	if err != nil || len(mods) == 0 {
		return fmt.Errorf("no modules in %s (%w)", from, err)
	}
	if err := os.MkdirAll(to, 0o755); err != nil { //nolint:gosec // source, world-readable
		return err
	}
	for _, mod := range mods {
		group := filepath.Base(filepath.Dir(mod))
		if group == "peers" {
			continue // pins of the bench, not of labs
		}
		for _, ext := range []string{"mod", "sum"} {
			raw, err := os.ReadFile(filepath.Join(filepath.Dir(mod), "go."+ext))
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(to, group+"."+ext), raw, 0o644); err != nil { //nolint:gosec // source, world-readable
				return err
			}
		}
	}
	return nil
}

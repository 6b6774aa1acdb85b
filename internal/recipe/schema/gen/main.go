// Command gen writes the JSON Schemas of the recipe format into the repository whose root is
// its argument.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/firstlight/firstlight/internal/recipe/schema"
)

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	if err := write(root); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func write(root string) error {
	all, err := schema.All(root)
	if err != nil {
		return fmt.Errorf("generate schemas: %w", err)
	}
	dir := filepath.Join(root, filepath.FromSlash(schema.Dir))
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // published files
		return fmt.Errorf("create %s: %w", dir, err)
	}
	for name, data := range all {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil { //nolint:gosec // published files
			return fmt.Errorf("write schema: %w", err)
		}
	}
	return nil
}

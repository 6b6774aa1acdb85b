// Command run prints the matches of the language patterns below the given directories, and
// exits with 1 where there are any:
//
//	go run ./internal/language/run [-count] [DIR ...]
package main

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/firstlight/firstlight/internal/language"
)

func main() {
	count := flag.Bool("count", false, "print the number of matches of each pattern only")
	flag.Parse()
	matches, err := find(flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "language:", err)
		os.Exit(2)
	}
	if *count {
		counts := map[string]int{}
		for _, m := range matches {
			counts[m.Pattern.Name]++
		}
		for _, name := range slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Compare(counts[b], counts[a]) }) {
			fmt.Fprintf(os.Stdout, "%6d %s\n", counts[name], name)
		}
	} else {
		for _, m := range matches {
			fmt.Fprintln(os.Stdout, m)
		}
	}
	if len(matches) > 0 {
		fmt.Fprintf(os.Stderr, "language: %d matches\n", len(matches))
		os.Exit(1)
	}
}

func find(dirs []string) ([]language.Match, error) {
	if len(dirs) == 0 {
		dirs = []string{"."}
	}
	patterns, err := language.Patterns()
	if err != nil {
		return nil, fmt.Errorf("load patterns: %w", err)
	}
	texts, err := language.Read(dirs...)
	if err != nil {
		return nil, fmt.Errorf("read files: %w", err)
	}
	return language.Check(patterns, texts), nil
}

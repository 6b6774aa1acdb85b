package recipetest

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
)

// Shuffled returns a file system whose directories list their files in random order.
func Shuffled(from fs.FS, seed uint64) fs.FS { return shuffled{FS: from, seed: seed} }

type shuffled struct {
	fs.FS
	seed uint64
}

func (s shuffled) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(s.FS, name)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", name, err)
	}
	r := rand.New(rand.NewPCG(s.seed, uint64(len(name)))) //nolint:gosec // an order for a test
	r.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
	return entries, nil
}

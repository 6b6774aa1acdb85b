package main

import (
	"context"
	"fmt"
	"os"
)

const binarySize = "size of the binary"

// measureBinary measures the file that make build made.
func (b *bench) measureBinary(context.Context) error {
	info, err := os.Stat(b.binary)
	if err != nil {
		return fmt.Errorf("cannot read the binary: %w", err)
	}
	b.add(binarySize, float64(info.Size()))
	return nil
}

package logline

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// Bounds of a log.
const (
	// MaxBytes is the longest log.
	MaxBytes = 256 << 20
	// MaxLine is the longest line in bytes; the rest of a longer line is dropped.
	MaxLine = 64 << 10
	// MaxRank is the highest valid rank.
	MaxRank = 1 << 20
)

// ErrTooLong is returned for a log of more than MaxBytes.
var ErrTooLong = errors.New("log is longer than 256 MiB")

// Scan calls fn with each line of r. It returns the first error of fn or r, or ErrTooLong.
func Scan(r io.Reader, fn func(Line) error) error {
	in := bufio.NewReaderSize(io.LimitReader(r, MaxBytes+1), MaxLine)
	total := 0
	for {
		chunk, more, err := in.ReadLine()
		total += len(chunk) + 1
		switch {
		case total > MaxBytes:
			return ErrTooLong
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read log: %w", err)
		}
		line := Parse(string(chunk))
		for more && err == nil {
			chunk, more, err = in.ReadLine()
			total += len(chunk)
		}
		if err := fn(line); err != nil {
			return err
		}
	}
}

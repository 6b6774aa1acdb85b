package logline

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// Bounds of what is read.
const (
	// MaxBytes is the longest log that is read.
	MaxBytes = 256 << 20
	// MaxLine is the longest line; what is behind it is dropped.
	MaxLine = 64 << 10
	// MaxRank is the highest rank number that is believed.
	MaxRank = 1 << 20
)

// ErrTooLong says that a log has more than MaxBytes.
var ErrTooLong = errors.New("log is longer than what is read of one")

// Scan calls fn with each line of r. It ends with fn's error, with r's, or with
// ErrTooLong.
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

package process

import (
	"fmt"
	"io"
	"os"
	"time"
)

// A log that is longer than logLimit goes to a file of its name with .1 at the end, in place of
// the one before, and begins anew. It is looked at every rotateEvery.
const (
	logLimit    = 64 << 20
	rotateEvery = 30 * time.Second
)

// rotateUntil keeps a log short until the program that writes it has ended.
func rotateUntil(ended <-chan struct{}, path string) {
	tick := time.NewTicker(rotateEvery)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return
		case <-tick.C:
			_ = rotate(path, logLimit) // a log that can not be rotated is no reason to end its program
		}
	}
}

// rotate copies a log that is longer than limit, its last limit bytes, and empties it: the
// program that writes has it open, and appends. What it writes in between is lost.
func rotate(path string, limit int64) error {
	log, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("rotate log: %w", err)
	}
	defer log.Close()
	info, err := log.Stat()
	if err != nil || info.Size() <= limit {
		return err
	}
	if _, err := log.Seek(-limit, io.SeekEnd); err != nil {
		return fmt.Errorf("rotate log: %w", err)
	}
	old, err := os.OpenFile(path+".1", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("rotate log: %w", err)
	}
	_, err = io.CopyN(old, log, limit)
	if cerr := old.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("rotate log: %w", err)
	}
	if err := log.Truncate(0); err != nil {
		return fmt.Errorf("rotate log: %w", err)
	}
	return nil
}

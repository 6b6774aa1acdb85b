package process

import (
	"fmt"
	"io"
	"os"
	"time"
)

// A log longer than logLimit replaces NAME.1 and starts empty. The length is checked every
// rotateEvery.
const (
	logLimit    = 64 << 20
	rotateEvery = 30 * time.Second
)

// RotateLog rotates a log until its program has ended.
func RotateLog(ended <-chan struct{}, path string) {
	tick := time.NewTicker(rotateEvery)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return
		case <-tick.C:
			_ = rotate(path, logLimit) // a failed rotation must not affect the program
		}
	}
}

// rotate copies the last limit bytes of a longer log and truncates it; the writer has it open for
// append. Output in between is lost.
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

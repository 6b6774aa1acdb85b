package lab

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// starting returns the IDs of the labs that have a reservation.
func (i inotify) starting() map[string]bool {
	starting := map[string]bool{}
	raw, _ := os.ReadFile(filepath.Join(i.proc, "net/unix"))
	for line := range strings.Lines(string(raw)) {
		if _, id, ok := strings.Cut(line, i.prefix); ok {
			starting[strings.TrimSpace(id)] = true
		}
	}
	return starting
}

// used counts the user's open inotify instances by the ID of the lab whose process has them; ""
// are all other processes.
func (i inotify) used() map[string]int {
	used := map[string]int{}
	dirs, _ := filepath.Glob(filepath.Join(i.proc, "[0-9]*"))
	for _, dir := range dirs {
		info, err := os.Stat(dir)
		if err != nil {
			continue // ended
		}
		if sys, ok := info.Sys().(*syscall.Stat_t); !ok || int(sys.Uid) != i.uid {
			continue
		}
		if n := inotifyOf(dir); n > 0 {
			used[labOf(dir)] += n
		}
	}
	return used
}

// inotifyOf counts the inotify instances of a process.
func inotifyOf(dir string) int {
	n := 0
	files, _ := os.ReadDir(filepath.Join(dir, "fd"))
	for _, f := range files {
		if to, err := os.Readlink(filepath.Join(dir, "fd", f.Name())); err == nil && to == "anon_inode:inotify" {
			n++
		}
	}
	return n
}

// labOf returns the ID of the lab that started a process, or "".
func labOf(dir string) string {
	environ, _ := os.ReadFile(filepath.Join(dir, "environ"))
	for v := range bytes.SplitSeq(environ, []byte{0}) {
		if id, ok := bytes.CutPrefix(v, []byte(Marker+"=")); ok {
			return string(id)
		}
	}
	return ""
}

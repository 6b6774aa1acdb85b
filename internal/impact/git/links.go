package git

import (
	"path"
	"strings"
)

// follower resolves the symbolic links of a commit.
type follower struct {
	entries map[string]Entry
	// targets of links, by path
	targets map[string]string
}

// maxLinks is the kernel's limit for links in a path.
const maxLinks = 40

// follow resolves p; ok is false if the target is not in the repository.
func (f *follower) follow(p string) (to string, ok bool) {
	for range maxLinks {
		next, again := f.step(p)
		if !again {
			return p, true
		}
		if next == ".." || strings.HasPrefix(next, "../") || path.IsAbs(next) {
			return "", false
		}
		p = next
	}
	return "", false
}

// step replaces the first part of p that is a link.
func (f *follower) step(p string) (next string, again bool) {
	for end := 0; end < len(p); end++ {
		if i := strings.IndexByte(p[end:], '/'); i >= 0 {
			end += i
		} else {
			end = len(p)
		}
		target, isLink := f.targets[p[:end]]
		if !isLink {
			continue
		}
		if path.IsAbs(target) {
			return target, true
		}
		return path.Join(path.Dir(p[:end]), target, p[end:]), true
	}
	return p, false
}

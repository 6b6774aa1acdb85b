package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Files is a file system with the files of a commit below a directory, as checking it out would
// create them, with symbolic links followed.
type Files struct {
	files map[string]*file
	dirs  map[string][]fs.DirEntry
	// Submodules below the directory; their files are not included.
	Submodules []string
}

var _ fs.ReadDirFS = (*Files)(nil)

var errTooLarge = fmt.Errorf("file is larger than %d MiB", MaxFile>>20)

var errLeadsOut = errors.New("symbolic link with a target outside the repository")

// Files reads the entries below dir (empty: all).
func (r *Repo) Files(ctx context.Context, entries []Entry, dir string, blobs *Blobs) (*Files, error) {
	b := &builder{repo: r, blobs: blobs, out: &Files{files: map[string]*file{}, dirs: map[string][]fs.DirEntry{".": nil}}}
	prefix := ""
	if dir != "" && dir != "." {
		prefix = dir + "/"
	}
	if err := b.links(ctx, entries); err != nil {
		return nil, err
	}
	var ids []string
	for _, e := range entries {
		name, below := strings.CutPrefix(e.Path, prefix)
		if !below {
			continue
		}
		if e.Mode == modeSubmodule {
			b.out.Submodules = append(b.out.Submodules, name)
			continue
		}
		ids = append(ids, b.add(name, e)...)
	}
	if err := r.read(ctx, ids, blobs); err != nil {
		return nil, err
	}
	for _, f := range b.out.files {
		if f.err == nil {
			f.data = blobs.get(f.id)
			if f.data == nil {
				f.err = errTooLarge
			}
		}
	}
	for _, list := range b.out.dirs {
		slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	}
	return b.out, nil
}

type builder struct {
	repo     *Repo
	blobs    *Blobs
	out      *Files
	follower *follower // nil: the commit has no links
}

// links reads the targets of the commit's links.
func (b *builder) links(ctx context.Context, entries []Entry) error {
	var ids []string
	for _, e := range entries {
		if e.Mode == modeLink {
			ids = append(ids, e.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	if err := b.repo.read(ctx, ids, b.blobs); err != nil {
		return err
	}
	b.follower = &follower{entries: map[string]Entry{}, targets: map[string]string{}}
	for _, e := range entries {
		b.follower.entries[e.Path] = e
		if e.Mode == modeLink {
			target := b.blobs.get(e.ID)
			b.follower.targets[e.Path] = string(target)
		}
	}
	return nil
}

// add enters a file and returns the content IDs that it needs.
func (b *builder) add(name string, e Entry) []string {
	f := &file{name: name, id: e.ID}
	b.out.files[name] = f
	b.list(f)
	if e.Mode != modeLink {
		return []string{e.ID}
	}
	f.link, f.id = true, ""
	to, ok := b.follower.follow(e.Path)
	target, isFile := b.follower.entries[to]
	switch {
	case ok && isFile && target.Mode != modeSubmodule:
		f.id = target.ID
		return []string{target.ID}
	case ok:
		f.err = errLeadsOut
		return b.directory(name, to)
	default:
		f.err = errLeadsOut
		return nil
	}
}

// directory enters the files of a directory that a link points to. They can be read but are not
// listed, as on disk.
func (b *builder) directory(name, to string) []string {
	var ids []string
	for p, e := range b.follower.entries {
		rest, below := strings.CutPrefix(p, to+"/")
		if !below || e.Mode == modeLink || e.Mode == modeSubmodule {
			continue
		}
		at := path.Join(name, rest)
		b.out.files[at] = &file{name: at, link: true, id: e.ID}
		ids = append(ids, e.ID)
	}
	return ids
}

// list enters a file in its parent directories.
func (b *builder) list(f *file) {
	dir := path.Dir(f.name)
	b.directoryOf(dir)
	b.out.dirs[dir] = append(b.out.dirs[dir], dirEntry{name: path.Base(f.name), file: f})
}

func (b *builder) directoryOf(dir string) {
	if _, there := b.out.dirs[dir]; there {
		return
	}
	parent := path.Dir(dir)
	b.directoryOf(parent)
	b.out.dirs[dir] = nil
	b.out.dirs[parent] = append(b.out.dirs[parent], dirEntry{name: path.Base(dir)})
}

// IDs returns git's content IDs by path; for a link, that of its target.
func (f *Files) IDs() map[string]string {
	out := make(map[string]string, len(f.files))
	for name, file := range f.files {
		out[name] = file.id
	}
	return out
}

// Links returns the paths that are, or are behind, symbolic links.
func (f *Files) Links() []string {
	var out []string
	for name, file := range f.files {
		if file.link {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// Len returns the number of readable files.
func (f *Files) Len() int { return len(f.files) }

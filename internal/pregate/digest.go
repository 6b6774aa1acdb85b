package pregate

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/firstlight/firstlight/internal/site"
)

// DigestsFile is the name of Digests among the inputs of a run.
const DigestsFile = "preparations.json"

// besidePlaybook are the directories and files next to a playbook that Ansible reads by itself
// (docs.ansible.com, "Sample Ansible setup" and "Storing and finding roles", "Adding modules and plugins locally").
var besidePlaybook = []string{
	"ansible.cfg", "requirements.yml", "roles", "collections", "group_vars", "host_vars", "vars", "tasks", "handlers", "files", "templates",
	"library", "module_utils", "filter_plugins", "lookup_plugins", "action_plugins", "callback_plugins", "vars_plugins",
}

// Digests returns the SHA-256 of each local file of the site's playbooks and Helm releases, as a JSON object by
// path: a verdict is kept for the same files only. A secret in a file is not in its digest. A chart or file of
// values that exists and has no digest is an error. nil: no preparation reads files.
func Digests(s *site.Site) ([]byte, error) {
	digests := map[string]string{}
	for _, p := range s.Prepare {
		for _, path := range filesOf(p, s.Reach.Charts) {
			files := map[string]string{}
			err := digestTree(files, path)
			if _, missing := os.Stat(path); err == nil && p.Helm != nil && len(files) == 0 && missing == nil {
				err = fmt.Errorf("%s has no files", path)
			}
			if err != nil {
				return nil, fmt.Errorf("read the files of a preparation of gate %s: %w", p.Gate, err)
			}
			maps.Copy(digests, files)
		}
	}
	if len(digests) == 0 {
		return nil, nil
	}
	return json.MarshalIndent(digests, "", "  ")
}

// filesOf returns the files and directories that a preparation reads. A chart of a repository or registry is
// not one of them: verdicts are kept if it is published again. The preparation prints its digest.
func filesOf(p site.Prepare, mirrors map[string]string) []string {
	switch r := p.Rollout(); {
	case p.Helm != nil:
		chart := cmp.Or(mirrors[p.Helm.Reference()], p.Helm.Chart)
		if p.Helm.Repository != "" && chart == p.Helm.Chart {
			return p.Helm.Files()
		}
		return append([]string{chart}, p.Helm.Files()...)
	case r != nil:
		paths := []string{r.Playbook}
		if r.Inventory != "" {
			paths = append(paths, r.Inventory)
		}
		for _, name := range besidePlaybook {
			paths = append(paths, filepath.Join(filepath.Dir(r.Playbook), name))
		}
		return paths
	}
	return nil
}

// digestTree adds the regular files at and below a path, also those that links lead to: Helm and Ansible follow
// links. A missing one is left out: the preparation reports it. above are the directories around the path; a link
// to one of them adds nothing.
func digestTree(into map[string]string, path string, above ...fs.FileInfo) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().IsRegular():
		into[path], err = digestFile(path)
		return err
	case !info.IsDir(), slices.ContainsFunc(above, func(dir fs.FileInfo) bool { return os.SameFile(dir, info) }):
		return nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	above = append(slices.Clone(above), info)
	for _, e := range entries {
		if err := digestTree(into, filepath.Join(path, e.Name()), above...); err != nil {
			return err
		}
	}
	return nil
}

func digestFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), errors.Join(err, f.Close())
}

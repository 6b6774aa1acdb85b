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
	"os"
	"path/filepath"

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
// path: a verdict is kept for the same files only. A secret in a file is not in its digest. nil: no such file.
func Digests(s *site.Site) ([]byte, error) {
	digests := map[string]string{}
	for _, p := range s.Prepare {
		for _, path := range filesOf(p, s.Reach.Charts) {
			if err := digestTree(digests, path); err != nil {
				return nil, fmt.Errorf("read the files of a preparation of gate %s: %w", p.Gate, err)
			}
		}
	}
	if len(digests) == 0 {
		return nil, nil
	}
	return json.MarshalIndent(digests, "", "  ")
}

// filesOf returns the files and directories that a preparation reads. A chart of a repository or registry has
// no local file; the preparation prints its digest.
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

// digestTree adds the regular files at and below a path. A missing one is left out: the preparation reports it.
func digestTree(into map[string]string, path string) error {
	return filepath.WalkDir(path, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.IsDir():
			return nil
		}
		info, err := os.Stat(path) // of the target of a link
		if err != nil || !info.Mode().IsRegular() {
			return nil //nolint:nilerr // a socket, or a link to nothing: Ansible reads neither
		}
		into[path], err = digestFile(path)
		return err
	})
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

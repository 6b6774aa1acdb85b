package evidence

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/firstlight/firstlight/internal/evidence/strictjson"
)

// The files of a run.
const (
	headerFile      = "run.json"
	planFile        = "plan.json"
	siteFile        = "site.yaml"
	profileFile     = "profile.yaml"
	recipeFile      = "recipe.yaml"
	journalFile     = "journal.jsonl"
	observationsDir = "observations"
	verdictsFile    = "verdicts.json"
	reportFile      = "report.html"
	junitFile       = "junit.xml"
	ctrfFile        = "ctrf.json"
	manifestFile    = "manifest.json"
	// attestationFile is signed over the manifest, which can therefore not list it.
	attestationFile = "attestation.intoto.jsonl"
)

// The names that others need: what an attestation of the run is kept in, and
// what vouches for the rest.
const (
	AttestationFile  = attestationFile
	ManifestFileName = manifestFile
	VerdictsFileName = verdictsFile
)

const (
	fileMode = 0o600 // a run is its owner's until it is packed
	dirMode  = 0o700
	tempMark = ".tmp"
)

// file is one to be written.
type file struct {
	name string
	data []byte
}

// writeDurable writes a file so that after a crash there is the old one or the
// new one, whole.
func writeDurable(path string, data []byte) error {
	return writeFiles(filepath.Dir(path), file{name: filepath.Base(path), data: data})
}

// writeFiles writes files of one directory. They get their names in this order,
// once all of them are whole, and with one sync of the directory.
func writeFiles(dir string, files ...file) error {
	for i, f := range files {
		if err := writeTemp(tempOf(dir, f.name), f.data); err != nil {
			return errors.Join(fmt.Errorf("write %s: %w", f.name, err), removeAll(dir, files[:i+1]))
		}
	}
	for i, f := range files {
		if err := os.Rename(tempOf(dir, f.name), filepath.Join(dir, f.name)); err != nil {
			return errors.Join(fmt.Errorf("write %s: %w", f.name, err), removeAll(dir, files[i:]))
		}
	}
	return syncDir(dir)
}

func tempOf(dir, name string) string { return filepath.Join(dir, "."+name+tempMark) }

func writeTemp(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fileMode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// removeAll removes what was about to be written.
func removeAll(dir string, files []file) error {
	var problems []error
	for _, f := range files {
		if err := os.Remove(tempOf(dir, f.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

// writeJSON writes v, indented, durably.
func writeJSON(path string, v any) error {
	f, err := encode(filepath.Base(path), v)
	if err != nil {
		return err
	}
	return writeFiles(filepath.Dir(path), f)
}

func encode(name string, v any) (file, error) {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return file{}, fmt.Errorf("encode %s: %w", name, err)
	}
	return file{name: name, data: append(data, '\n')}, nil
}

// readJSON reads what writeJSON wrote.
func readJSON(path string, v any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read %s: %w", filepath.Base(path), err)
	}
	if err := strictjson.Unmarshal(data, v); err != nil {
		return fmt.Errorf("decode %s: %w", filepath.Base(path), err)
	}
	return nil
}

// syncDir makes renames in dir durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	return nil
}

func isTemp(name string) bool {
	return len(name) > len(tempMark) && strings.HasPrefix(name, ".") && strings.HasSuffix(name, tempMark)
}

// removeTemps removes what a killed process was about to write: the names that ours chooses.
func removeTemps(dir string, ours func(name string) bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("look for unfinished files: %w", err)
	}
	for _, e := range entries {
		if ours(e.Name()) {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return fmt.Errorf("remove an unfinished file: %w", err)
			}
		}
	}
	return nil
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

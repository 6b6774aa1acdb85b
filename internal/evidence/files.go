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

	"github.com/firstlight/firstlight/internal/atomicfile"
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
	// attestationFile is signed over the manifest, so the manifest cannot list it.
	attestationFile = "attestation.intoto.jsonl"
)

// File names for other packages.
const (
	AttestationFile  = attestationFile
	ManifestFileName = manifestFile
	VerdictsFileName = verdictsFile
)

const (
	fileMode = 0o600 // readable by the owner only, until the run is packed
	dirMode  = 0o700
	tempMark = ".tmp"
)

type file struct {
	name string
	data []byte
}

// writeDurable replaces a file atomically and syncs it.
func writeDurable(path string, data []byte) error {
	return writeFiles(filepath.Dir(path), file{name: filepath.Base(path), data: data})
}

// writeFiles writes files of one directory: it writes and syncs all temporary files, renames
// them in order, and syncs the directory once.
func writeFiles(dir string, files ...file) error {
	for i, f := range files {
		if err := atomicfile.WriteSynced(tempOf(dir, f.name), f.data, os.O_TRUNC, fileMode); err != nil {
			return errors.Join(fmt.Errorf("write %s: %w", f.name, err), removeAll(dir, files[:i+1]))
		}
	}
	for i, f := range files {
		if err := os.Rename(tempOf(dir, f.name), filepath.Join(dir, f.name)); err != nil {
			return errors.Join(fmt.Errorf("write %s: %w", f.name, err), removeAll(dir, files[i:]))
		}
	}
	return atomicfile.SyncDir(dir)
}

func tempOf(dir, name string) string { return filepath.Join(dir, "."+name+tempMark) }

// removeAll removes the temporary files.
func removeAll(dir string, files []file) error {
	var problems []error
	for _, f := range files {
		if err := os.Remove(tempOf(dir, f.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

// writeJSON writes v as indented JSON, durably.
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

// readJSON reads a file of writeJSON.
func readJSON(path string, v any) error {
	data, err := ReadFile(path)
	if err != nil {
		return fmt.Errorf("read %s: %w", filepath.Base(path), err)
	}
	if err := strictjson.Unmarshal(data, v); err != nil {
		return fmt.Errorf("decode %s: %w", filepath.Base(path), err)
	}
	return nil
}

func isTemp(name string) bool {
	return len(name) > len(tempMark) && strings.HasPrefix(name, ".") && strings.HasSuffix(name, tempMark)
}

// removeTemps removes the temporary files of a killed process, selected by ours.
func removeTemps(dir string, ours func(name string) bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("list temporary files: %w", err)
	}
	for _, e := range entries {
		if ours(e.Name()) {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return fmt.Errorf("remove temporary file: %w", err)
			}
		}
	}
	return nil
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

package evidence

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"

	"github.com/firstlight/firstlight/internal/evidence/strictjson"
)

// Manifest is manifest.json.
type Manifest struct {
	Format int    `json:"format"`
	Run    string `json:"run"`
	// Files are all other files of the run, sorted by path.
	Files []ManifestFile `json:"files"`
	// Digest is the sha256 of this manifest without the digest. It identifies the content of
	// the run.
	Digest string `json:"digest"`
}

// ManifestFile is one file.
type ManifestFile struct {
	Path   string `json:"path"` // with slashes, relative to the run
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// encode is the canonical form of a manifest, so that any change to the file is detected.
func (m Manifest) encode() ([]byte, error) {
	m.Digest = ""
	bare, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the manifest: %w", err)
	}
	m.Digest = digest(bare)
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the manifest: %w", err)
	}
	return append(data, '\n'), nil
}

// readManifest reads a manifest; ErrCorrupt if it does not match its digest.
func readManifest(dir string) (Manifest, error) {
	data, err := ReadFile(filepath.Join(dir, manifestFile))
	if err != nil {
		return Manifest{}, fmt.Errorf("read the manifest: %w", err)
	}
	return decodeManifest(data)
}

func decodeManifest(data []byte) (Manifest, error) {
	var m Manifest
	if err := strictjson.Unmarshal(data, &m); err != nil {
		return Manifest{}, fmt.Errorf("%w: decode the manifest: %w", ErrCorrupt, err)
	}
	want, err := m.encode()
	if err != nil {
		return Manifest{}, err
	}
	if !bytes.Equal(want, data) {
		return Manifest{}, fmt.Errorf("%w: the manifest does not match its digest", ErrCorrupt)
	}
	return m, nil
}

// writeManifest hashes all files of the run and writes the manifest.
func writeManifest(dir, run string) error {
	files, problems, err := hashFiles(dir)
	if err != nil {
		return err
	}
	if len(problems) > 0 {
		return fmt.Errorf("write the manifest: %s: %s", problems[0].File, problems[0].What)
	}
	m := Manifest{Format: FormatVersion, Run: run, Files: files}
	data, err := m.encode()
	if err != nil {
		return err
	}
	return writeDurable(filepath.Join(dir, manifestFile), data)
}

// hashFiles lists all files except manifest and attestation, sorted. Anything except regular
// files and directories is a problem.
func hashFiles(dir string) (files []ManifestFile, problems []Problem, err error) {
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		rel = path.Clean(filepath.ToSlash(rel))
		switch {
		case d.IsDir(), (rel == manifestFile || rel == attestationFile || IsHalfWrittenAttestation(rel)) && d.Type().IsRegular():
			return nil
		case !d.Type().IsRegular():
			problems = append(problems, Problem{File: rel, What: Extra, Detail: "not a regular file"})
			return nil
		}
		f, err := hashFile(name)
		f.Path = rel
		files = append(files, f)
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("hash the run's files: %w", err)
	}
	sort.Slice(files, func(i, j int) bool { return files[i].Path < files[j].Path })
	return files, problems, nil
}

func hashFile(name string) (ManifestFile, error) {
	f, err := os.Open(name)
	if err != nil {
		return ManifestFile{}, err
	}
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err := errors.Join(err, f.Close()); err != nil {
		return ManifestFile{}, err
	}
	return ManifestFile{Size: n, SHA256: hex.EncodeToString(h.Sum(nil))}, nil
}

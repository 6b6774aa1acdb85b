package submission

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/firstlight/firstlight/internal/conformance/catalog"
	"github.com/firstlight/firstlight/internal/diag"
)

var scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)

// evidence checks the links of one entry: files now, URLs later in checkLinks.
func (v *validation) evidence(e entry) {
	for i, target := range e.Evidence {
		at := v.doc.ValueAt(e.path("evidence", itoa(i))...)
		switch {
		case strings.TrimSpace(target) == "":
			v.add(ruleFile.At(at, "a link of %s is empty", e.ID).With("remove it, or write the path or URL of the evidence"))
		case strings.HasPrefix(strings.ToLower(target), "file:"):
			v.add(ruleFileLink.At(at, "evidence of %s is %s", e.ID, target))
		case isAddress(target):
			v.links = append(v.links, link{at: at, address: target, of: "evidence of " + e.ID})
		case scheme.MatchString(target):
			v.add(ruleAddress.At(at, "evidence of %s is %q: must be an http(s) URL or a file", e.ID, target))
		default:
			v.local(at, e.ID, target)
		}
	}
}

// local checks a file of evidence in the directory of PRODUCT.yaml.
func (v *validation) local(at diag.Pos, id, target string) {
	name := filepath.FromSlash(target)
	if !filepath.IsLocal(name) {
		v.add(ruleOutside.At(at, "evidence of %s is %s", id, target))
		return
	}
	info, err := v.root.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		found := ruleFile.At(at, "evidence of %s not found: %s", id, target)
		if file, _, cut := strings.Cut(target, "#"); cut {
			found = found.With("write %s: the program's validator reads # and the text after it as part of the name", file)
		}
		v.add(found)
	case err != nil && v.leaves(name):
		v.add(ruleOutside.At(at, "evidence of %s is %s, a symbolic link to a target outside of the directory", id, target))
	case err != nil:
		v.add(ruleFile.At(at, "evidence of %s: %v", id, err))
	case info.IsDir():
		if entries, err := fs.ReadDir(v.root.FS(), target); err != nil || len(entries) == 0 {
			v.add(ruleFile.At(at, "evidence of %s is %s, an empty directory", id, target))
		}
	case info.Size() == 0:
		v.add(ruleFile.At(at, "evidence of %s is %s, an empty file", id, target))
	default:
		v.fromDraft(at, id, name)
	}
}

// leaves reports whether a name that the root refuses exists outside of it.
func (v *validation) leaves(name string) bool {
	_, err := os.Stat(filepath.Join(v.root.Name(), name))
	return err == nil
}

// fromDraft finds the marks of a draft and of simulated hardware in a file of evidence. In a
// draft, rule draft is already reported once for the directory.
func (v *validation) fromDraft(at diag.Pos, id, name string) {
	f, err := v.root.Open(name)
	if err != nil {
		v.add(ruleFile.At(at, "evidence of %s: %v", id, err))
		return
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		v.add(ruleFile.At(at, "evidence of %s: %v", id, err))
	} else if why := unfitReason(head); why != "" && !v.draft {
		v.add(ruleDraft.At(at, "evidence of %s, %s, %s", id, name, why))
	}
}

// draftMark finds the marks of a draft in draftFile and PRODUCT.yaml.
func (v *validation) draftMark() {
	at := diag.Pos{File: filepath.Join(filepath.Dir(v.file), draftFile)}
	_, err := v.root.Lstat(draftFile)
	v.draft = err == nil
	if !v.draft {
		at = diag.Pos{File: v.file, Line: 1, Column: 1}
		head, err := readBounded(v.root, productFile, 4096)
		v.draft = err == nil && bytes.Contains(head, []byte(draftMark))
	}
	if v.draft {
		v.add(ruleDraft.At(at, "the submission is a draft"))
	}
}

// addresses collects the URLs of the metadata for checkLinks.
func (v *validation) addresses(m *metadata) {
	for _, f := range catalog.Fields() {
		value := m.values[f.Key]
		if f.Key == catalog.K8sConformance && !k8sConformance.MatchString(value) {
			continue // already reported
		}
		if f.URL && isAddress(value) {
			v.links = append(v.links, link{at: v.doc.ValueAt("metadata", m.written[f.Key]), address: value, of: f.Key})
		}
	}
	if name := strings.TrimSpace(m.values[catalog.VendorName]); name != "" && !catalog.Placeholder(name) {
		v.vendor, v.vendorAt = name, v.doc.ValueAt("metadata", m.written[catalog.VendorName])
	}
}

// readBounded reads at most limit+1 bytes of a file and truncates the rest.
func readBounded(root *os.Root, name string, limit int64) ([]byte, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return data, nil
}

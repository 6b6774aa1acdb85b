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

// evidence looks at the links of one entry: files now, addresses later.
func (v *validation) evidence(e entry) {
	for i, link := range e.Evidence {
		at := v.doc.ValueAt(e.path("evidence", itoa(i))...)
		switch {
		case strings.TrimSpace(link) == "":
			v.add(ruleFile.At(at, "a link of %s is empty", e.ID).With("remove it, or write where the evidence is"))
		case strings.HasPrefix(strings.ToLower(link), "file:"):
			v.add(ruleFileLink.At(at, "evidence of %s is %s", e.ID, link))
		case isAddress(link):
			v.asks = append(v.asks, ask{at: at, address: link, of: "evidence of " + e.ID})
		case scheme.MatchString(link):
			v.add(ruleAddress.At(at, "evidence of %s is %q, which is neither an http address nor a file", e.ID, link))
		default:
			v.local(at, e.ID, link)
		}
	}
}

// local looks at evidence beside PRODUCT.yaml.
func (v *validation) local(at diag.Pos, id, link string) {
	name := filepath.FromSlash(link)
	if !filepath.IsLocal(name) {
		v.add(ruleOutside.At(at, "evidence of %s is %s", id, link))
		return
	}
	info, err := v.root.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		found := ruleFile.At(at, "evidence of %s is %s, which is not there", id, link)
		if file, _, cut := strings.Cut(link, "#"); cut {
			found = found.With("write %s: the programme's validator takes what is after # for part of the name", file)
		}
		v.add(found)
	case err != nil && v.leaves(name):
		v.add(ruleOutside.At(at, "evidence of %s is %s, a link that leads out of the directory", id, link))
	case err != nil:
		v.add(ruleFile.At(at, "evidence of %s: %v", id, err))
	case info.IsDir():
		if entries, err := fs.ReadDir(v.root.FS(), link); err != nil || len(entries) == 0 {
			v.add(ruleFile.At(at, "evidence of %s is the directory %s, in which there is nothing", id, link))
		}
	case info.Size() == 0:
		v.add(ruleFile.At(at, "evidence of %s is %s, which is empty", id, link))
	default:
		v.fromDraft(at, id, name)
	}
}

// leaves says whether a name that the root refuses is there all the same.
func (v *validation) leaves(name string) bool {
	_, err := os.Stat(filepath.Join(v.root.Name(), name))
	return err == nil
}

// fromDraft looks for what does not fit into a submission in a file of evidence;
// of a draft it is said once.
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
	} else if why := notFit(head); why != "" && !v.draft {
		v.add(ruleDraft.At(at, "evidence of %s, %s, %s", id, name, why))
	}
}

// draftMark looks for the marks of a draft beside its evidence.
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

// addresses notes what is to be asked for of the metadata.
func (v *validation) addresses(m *metadata) {
	for _, f := range catalog.Fields() {
		value := m.values[f.Key]
		if f.Key == catalog.K8sConformance && !k8sConformance.MatchString(value) {
			continue // a problem already
		}
		if f.URL && isAddress(value) {
			v.asks = append(v.asks, ask{at: v.doc.ValueAt("metadata", m.written[f.Key]), address: value, of: f.Key})
		}
	}
	if name := strings.TrimSpace(m.values[catalog.VendorName]); name != "" && !catalog.Placeholder(name) {
		v.vendor, v.vendorAt = name, v.doc.ValueAt("metadata", m.written[catalog.VendorName])
	}
}

// readBounded reads at most limit bytes of a file; a longer one is cut there.
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

package submission

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/conformance/catalog"
	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/yamlstrict"
)

// productFile is a submission's own.
const productFile = "PRODUCT.yaml"

// Options of Validate.
type Options struct {
	// Client asks whether addresses answer. Nil: none is asked, and Unchecked says so.
	Client Doer
	// Landscape is where the list of the CNCF's members is; empty: the CNCF's own.
	Landscape string
}

// Report is what Validate found.
type Report struct {
	Dir string `json:"dir"`
	// Version is the checklist's: "1.36"; empty when it could not be told.
	Version string `json:"version,omitempty"`
	// Requirements as the submission has them, in the order of the checklist.
	Requirements []Stated  `json:"requirements"`
	Problems     diag.List `json:"problems"`
	// Unchecked is what was not looked at, each with why.
	Unchecked []Unchecked `json:"unchecked"`
}

// Stated is what a submission says of a requirement.
type Stated struct {
	ID       string        `json:"id"`
	Level    catalog.Level `json:"level"`
	Status   Status        `json:"status"`
	Evidence []string      `json:"evidence"`
}

// Unchecked is something not looked at.
type Unchecked struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

// Valid says that no rule is broken. What is Unchecked may still be wrong.
func (r Report) Valid() bool { return r.Problems.Count(diag.Error) == 0 }

// Validate holds the submission in dir against the rules: all that is wrong with
// it at once. The error is for what keeps it from looking at all.
func Validate(ctx context.Context, dir string, o Options) (Report, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Report{}, fmt.Errorf("find %s: %w", dir, err)
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return Report{}, fmt.Errorf("open the submission: %w", err)
	}
	defer func() { _ = root.Close() }() // only read
	v := &validation{root: root, file: filepath.Join(dir, productFile), report: Report{Dir: dir, Requirements: []Stated{}, Unchecked: []Unchecked{}}}
	v.draftMark()
	data, err := readBounded(root, productFile, yamlstrict.MaxSize)
	if err != nil {
		v.add(diag.Unreadable.At(diag.Pos{File: v.file}, "%v", err))
	} else {
		v.document(data, abs)
	}
	if err := v.askAll(ctx, o); err != nil {
		return Report{}, err
	}
	v.report.Problems = v.report.Problems.Sort()
	if v.report.Problems == nil {
		v.report.Problems = diag.List{}
	}
	return v.report, nil
}

// validation is one submission being looked at.
type validation struct {
	root   *os.Root
	file   string // of the submission, for messages
	report Report
	doc    *yamlstrict.Doc
	said   catalog.Document
	asks   []ask
	// draft says that the directory is one, by its own word.
	draft bool
	// vendor is who should be a member, as written at vendorAt.
	vendor   string
	vendorAt diag.Pos
}

func (v *validation) add(found ...diag.Problem) {
	v.report.Problems = append(v.report.Problems, found...)
}

// document reads PRODUCT.yaml and holds it against the checklist of its version.
func (v *validation) document(data []byte, abs string) {
	doc, problems := yamlstrict.Parse(v.file, data)
	v.add(problems...)
	if doc == nil {
		return
	}
	v.doc = doc
	v.add(firmText(doc.Decode(&v.said), doc)...)
	p, known := v.checklist(abs)
	m := readMetadata(doc, v.said.Metadata, p.Version)
	v.add(m.problems...)
	v.addresses(m)
	if known {
		v.requirements(p)
	}
}

var versionDir = regexp.MustCompile(`^v([0-9]+\.[0-9]+)$`)

// checklist is that of the directory's version. Where the directory is not in one
// of a version's, that is a problem, and the version is the one that the metadata say.
func (v *validation) checklist(abs string) (catalog.Programme, bool) {
	parent := filepath.Base(filepath.Dir(abs))
	var version string
	if g := versionDir.FindStringSubmatch(parent); g != nil {
		version = g[1]
	} else {
		v.add(ruleLayout.At(diag.Pos{File: v.file}, "the directory %s is in %s, which is no version's", filepath.Base(abs), parent))
		version = minor(v.said.Metadata[catalog.KubernetesVersion])
	}
	p, err := catalog.Load(version)
	if err != nil {
		if version != "" {
			v.add(ruleLayout.At(diag.Pos{File: v.file}, "%v", err))
		}
		return catalog.Programme{}, false
	}
	v.report.Version = p.Version
	return p, true
}

// minor is X.Y of vX.Y or vX.Y.Z.
func minor(version string) string {
	parts := strings.Split(strings.TrimPrefix(version, "v"), ".")
	if len(parts) < 2 {
		return ""
	}
	return parts[0] + "." + parts[1]
}

func itoa(i int) string { return strconv.Itoa(i) }

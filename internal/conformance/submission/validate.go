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

// productFile is the main file of a submission.
const productFile = "PRODUCT.yaml"

// Options of Validate.
type Options struct {
	// Client requests the URLs. Nil: no URL is requested, and each is Unchecked.
	Client Doer
	// Landscape is the URL of the list of CNCF members; empty: that of the CNCF.
	Landscape string
}

// Report is the result of Validate.
type Report struct {
	Dir string `json:"dir"`
	// Version of the checklist: "1.36"; empty if unknown.
	Version string `json:"version,omitempty"`
	// Requirements of the submission, in the order of the checklist.
	Requirements []Stated  `json:"requirements"`
	Problems     diag.List `json:"problems"`
	// Unchecked lists the URLs and names that were not checked.
	Unchecked []Unchecked `json:"unchecked"`
}

// Stated is a requirement as the submission declares it.
type Stated struct {
	ID       string        `json:"id"`
	Level    catalog.Level `json:"level"`
	Status   Status        `json:"status"`
	Evidence []string      `json:"evidence"`
}

// Unchecked is a URL or name that was not checked, with the reason.
type Unchecked struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

// Valid reports that no rule is violated. The entries of Unchecked may violate one.
func (r Report) Valid() bool { return r.Problems.Count(diag.Error) == 0 }

// Validate checks the submission in dir by the rules and reports all problems at once. It
// returns an error if it cannot open dir or ctx ends.
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
	if err := v.checkLinks(ctx, o); err != nil {
		return Report{}, err
	}
	v.report.Problems = v.report.Problems.Sort()
	if v.report.Problems == nil {
		v.report.Problems = diag.List{}
	}
	return v.report, nil
}

// validation is the state of Validate.
type validation struct {
	root   *os.Root
	file   string // of the submission, for messages
	report Report
	doc    *yamlstrict.Doc
	// decoded is the document without positions.
	decoded catalog.Document
	links   []link
	// draft is set if draftFile or PRODUCT.yaml marks the directory as a draft.
	draft bool
	// vendor must be a member of the CNCF; vendorAt is its position.
	vendor   string
	vendorAt diag.Pos
}

func (v *validation) add(found ...diag.Problem) {
	v.report.Problems = append(v.report.Problems, found...)
}

// document parses PRODUCT.yaml and compares it with the checklist of its version.
func (v *validation) document(data []byte, abs string) {
	doc, problems := yamlstrict.Parse(v.file, data)
	v.add(problems...)
	if doc == nil {
		return
	}
	v.doc = doc
	v.add(firmText(doc.Decode(&v.decoded), doc)...)
	p, known := v.checklist(abs)
	m := readMetadata(doc, v.decoded.Metadata, p.Version)
	v.add(m.problems...)
	v.addresses(m)
	if known {
		v.requirements(p)
	}
}

var versionDir = regexp.MustCompile(`^v([0-9]+\.[0-9]+)$`)

// checklist loads the checklist of the directory's version. If the parent directory is not
// vX.Y, that is a problem, and the version of the metadata counts.
func (v *validation) checklist(abs string) (catalog.Programme, bool) {
	parent := filepath.Base(filepath.Dir(abs))
	var version string
	if g := versionDir.FindStringSubmatch(parent); g != nil {
		version = g[1]
	} else {
		v.add(ruleLayout.At(diag.Pos{File: v.file}, "directory %s is in %q: must be in vX.Y", filepath.Base(abs), parent))
		version = minor(v.decoded.Metadata[catalog.KubernetesVersion])
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

// minor returns X.Y of vX.Y or vX.Y.Z.
func minor(version string) string {
	parts := strings.Split(strings.TrimPrefix(version, "v"), ".")
	if len(parts) < 2 {
		return ""
	}
	return parts[0] + "." + parts[1]
}

func itoa(i int) string { return strconv.Itoa(i) }

package submission

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/conformance/catalog"
	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/yamlstrict"
)

// k8sConformance matches the URL of a Kubernetes conformance result.
var k8sConformance = regexp.MustCompile(`^https://github\.com/cncf/k8s-conformance/tree/(?:master|main)/v[0-9]+\.[0-9]+/[^/]+/?$`)

// metadata of a document; keys are in the spelling of the checklists.
type metadata struct {
	doc *yamlstrict.Doc
	// values by key; written is the spelling in the document by key.
	values, written map[string]string
	problems        diag.List
}

// readMetadata validates given; unread lists the keys that may be missing in addition to
// the optional ones.
func readMetadata(doc *yamlstrict.Doc, given map[string]string, version string, unread ...string) *metadata {
	m := &metadata{doc: doc, values: map[string]string{}, written: map[string]string{}}
	m.sort(given)
	if !doc.Has("metadata") {
		m.problems = append(m.problems, diag.Missing.At(doc.At(), "the key \"metadata\" is missing").With("add it, with the values of the product"))
		return m
	}
	left := map[string]bool{}
	for _, key := range unread {
		left[key] = true
	}
	for _, f := range catalog.Fields() {
		value, ok := m.values[f.Key]
		switch {
		case !ok && (f.Optional || left[f.Key]):
		case !ok:
			m.problems = append(m.problems, ruleMetadata.At(doc.At("metadata"), "the key %q is missing", f.Key))
		case strings.TrimSpace(value) == "" && f.Optional:
		case strings.TrimSpace(value) == "":
			m.report(ruleMetadata, f.Key, "%s is empty", f.Key)
		case catalog.Placeholder(value):
			m.report(rulePlaceholder, f.Key, "%s is still the placeholder %s", f.Key, value)
		default:
			m.value(f, value, version)
		}
	}
	return m
}

// sort reads the keys in both spellings.
func (m *metadata) sort(given map[string]string) {
	var names []string
	known := map[string]string{}
	for _, f := range catalog.Fields() {
		names = append(names, f.Key)
		known[f.Key], known[catalog.Snake(f.Key)] = f.Key, f.Key
	}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		value := given[key]
		name, ok := known[key]
		if !ok {
			p := diag.UnknownKey.At(m.doc.At("metadata", key), "unknown key %q", key)
			if near := diag.Nearest(key, names); near != "" {
				p = p.With("did you mean %q?", near)
			} else {
				p = p.With("remove the key, it has no effect; want one of %s", strings.Join(names, ", "))
			}
			m.problems = append(m.problems, p)
			continue
		}
		if before, twice := m.written[name]; twice {
			m.problems = append(m.problems, ruleKeyTwice.At(m.doc.At("metadata", key), "%s is also written as %s", key, before))
		}
		m.values[name], m.written[name] = value, key
	}
}

// value checks one value by the rules of its key.
func (m *metadata) value(f catalog.Field, value, version string) {
	if f.URL && !isAddress(value) {
		m.report(ruleAddress, f.Key, "invalid %s %q: must be a URL", f.Key, value)
		return
	}
	switch f.Key {
	case catalog.K8sConformance:
		if !k8sConformance.MatchString(value) {
			m.report(ruleConformance, f.Key, "%s is %s", f.Key, value)
		}
	case catalog.ProductLogo:
		if lower := strings.ToLower(value); !strings.HasSuffix(lower, ".svg") && !strings.HasSuffix(lower, ".eps") && !strings.HasSuffix(lower, ".ai") {
			m.report(ruleLogo, f.Key, "%s is %s", f.Key, value)
		}
	case catalog.KubernetesVersion:
		if version != "" && value != "v"+version && !strings.HasPrefix(value, "v"+version+".") {
			m.report(ruleVersion, f.Key, "%s is %s, and the submission is for v%s", f.Key, value, version)
		}
	}
}

func (m *metadata) report(r diag.Rule, key, format string, args ...any) {
	m.problems = append(m.problems, r.At(m.doc.ValueAt("metadata", m.written[key]), format, args...))
}

// isAddress reports whether text is an http or https URL with a host.
func isAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

// firmText turns warnings about unquoted numbers in metadata into errors: the program's
// validator refuses them, and reads 1.20 as 1.2.
func firmText(problems diag.List, doc *yamlstrict.Doc) diag.List {
	within := map[diag.Pos]string{}
	for _, f := range catalog.Fields() {
		for _, key := range []string{f.Key, catalog.Snake(f.Key)} {
			if doc.Has("metadata", key) {
				within[doc.ValueAt("metadata", key)] = key
			}
		}
	}
	for i, p := range problems {
		key, ok := within[p.Pos]
		if ok && p.Rule == diag.Unquoted.Name {
			problems[i] = ruleText.At(p.Pos, "%s: %s", key, p.Message).With("write %s", fmt.Sprintf("%q", doc.Text("metadata", key)))
		}
	}
	return problems
}

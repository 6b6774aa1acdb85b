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

// k8sConformance is what the address of a Kubernetes conformance looks like.
var k8sConformance = regexp.MustCompile(`^https://github\.com/cncf/k8s-conformance/tree/(?:master|main)/v[0-9]+\.[0-9]+/[^/]+/?$`)

// metadata is that of a document, by the checklists' own spelling of the keys.
type metadata struct {
	doc *yamlstrict.Doc
	// values and written, the spelling in the document, by key.
	values, written map[string]string
	problems        diag.List
}

// readMetadata finds what is wrong with given; unread are the keys that may be
// left out beside the optional ones.
func readMetadata(doc *yamlstrict.Doc, given map[string]string, version string, unread ...string) *metadata {
	m := &metadata{doc: doc, values: map[string]string{}, written: map[string]string{}}
	m.sort(given)
	if !doc.Has("metadata") {
		m.problems = append(m.problems, diag.Missing.At(doc.At(), "the key \"metadata\" is missing").With("add it, with what is true of the product"))
		return m
	}
	left := map[string]bool{}
	for _, key := range unread {
		left[key] = true
	}
	for _, f := range catalog.Fields() {
		value, there := m.values[f.Key]
		switch {
		case !there && (f.Optional || left[f.Key]):
		case !there:
			m.problems = append(m.problems, ruleMetadata.At(doc.At("metadata"), "the key %q is missing", f.Key))
		case strings.TrimSpace(value) == "" && f.Optional:
		case strings.TrimSpace(value) == "":
			m.say(ruleMetadata, f.Key, "%s is empty", f.Key)
		case catalog.Placeholder(value):
			m.say(rulePlaceholder, f.Key, "%s is still %s", f.Key, value)
		default:
			m.value(f, value, version)
		}
	}
	return m
}

// sort takes keys of both spellings.
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
			p := diag.UnknownKey.At(m.doc.At("metadata", key), "the key %q is unknown", key)
			if near := diag.Nearest(key, names); near != "" {
				p = p.With("did you mean %q?", near)
			} else {
				p = p.With("remove it, nothing reads it; there are: %s", strings.Join(names, ", "))
			}
			m.problems = append(m.problems, p)
			continue
		}
		if before, twice := m.written[name]; twice {
			m.problems = append(m.problems, ruleKeyTwice.At(m.doc.At("metadata", key), "%s is there as %s, too", key, before))
		}
		m.values[name], m.written[name] = value, key
	}
}

// value holds one that is there against its own rules.
func (m *metadata) value(f catalog.Field, value, version string) {
	if f.URL && !isAddress(value) {
		m.say(ruleAddress, f.Key, "%s is %q, which is no address", f.Key, value)
		return
	}
	switch f.Key {
	case catalog.K8sConformance:
		if !k8sConformance.MatchString(value) {
			m.say(ruleConformance, f.Key, "%s is %s", f.Key, value)
		}
	case catalog.ProductLogo:
		if lower := strings.ToLower(value); !strings.HasSuffix(lower, ".svg") && !strings.HasSuffix(lower, ".eps") && !strings.HasSuffix(lower, ".ai") {
			m.say(ruleLogo, f.Key, "%s is %s", f.Key, value)
		}
	case catalog.KubernetesVersion:
		if version != "" && value != "v"+version && !strings.HasPrefix(value, "v"+version+".") {
			m.say(ruleVersion, f.Key, "%s is %s, and this is a submission for v%s", f.Key, value, version)
		}
	}
}

func (m *metadata) say(r diag.Rule, key, format string, args ...any) {
	m.problems = append(m.problems, r.At(m.doc.ValueAt("metadata", m.written[key]), format, args...))
}

// isAddress says whether something can be asked for: http or https, with a host.
func isAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

// firmText makes errors of the warnings that YAML takes a text of metadata for a
// number: the programme's validator refuses those, and takes 1.20 for 1.2.
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

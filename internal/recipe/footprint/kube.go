package footprint

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	kjson "sigs.k8s.io/json"

	"github.com/firstlight/firstlight/internal/recipe/rule"
)

// decode decodes into a type of the Kubernetes API and reports unknown keys as problems. It
// returns false if there were any.
func (r *reader) decode(v any, into any, at position) bool {
	data, err := json.Marshal(v)
	if err != nil {
		r.add(rule.PodField, at, "cannot be encoded as JSON: %s", err)
		return false
	}
	unknown, err := kjson.UnmarshalStrict(data, into)
	for _, u := range unknown {
		r.add(rule.PodField, at.at(keysOf(u.Error())...), "%s", u)
	}
	if err != nil {
		r.add(rule.PodField, at, "%s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return err == nil && len(unknown) == 0
}

var quoted = regexp.MustCompile(`"([^"]+)"`)

// keysOf returns the path in a message such as: unknown field "a.b[0].c".
func keysOf(message string) []string {
	found := quoted.FindStringSubmatch(message)
	if found == nil {
		return nil
	}
	return strings.FieldsFunc(found[1], func(c rune) bool { return c == '.' || c == '[' || c == ']' })
}

func (r *reader) tolerations(v any, at position) []corev1.Toleration {
	var out []corev1.Toleration
	for i, item := range r.list(v, at) {
		var t corev1.Toleration
		below := at.at(strconv.Itoa(i))
		if r.decode(item, &t, below) && r.toleration(&t, below) {
			out = append(out, t)
		}
	}
	return out
}

func (r *reader) affinity(v any, at position) *corev1.Affinity {
	if len(r.mapping(v, at)) == 0 {
		return nil
	}
	a := &corev1.Affinity{}
	if !r.decode(v, a, at) {
		return nil
	}
	r.checkAffinity(a, at)
	return a
}

func (r *reader) spread(v any, at position) []corev1.TopologySpreadConstraint {
	var out []corev1.TopologySpreadConstraint
	for i, item := range r.list(v, at) {
		var c corev1.TopologySpreadConstraint
		below := at.at(strconv.Itoa(i))
		if r.decode(item, &c, below) {
			r.checkSpread(&c, below)
			out = append(out, c)
		}
	}
	return out
}

func (r *reader) ports(v any, at position) []int32 {
	var out []int32
	for i, item := range r.list(v, at) {
		below := at.at(strconv.Itoa(i))
		port := r.number(item, below)
		if port < 1 || port > 65535 {
			r.add(rule.PodField, below, "invalid port %d", port)
			continue
		}
		out = append(out, port)
	}
	return out
}

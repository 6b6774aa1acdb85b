package metric

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/firstlight/firstlight/internal/probe/prom"
)

// Forms of the pod labels in a GPU's series.
const (
	Plain    = "plain"
	Exported = "exported"
)

// errNoValue marks a response without a value.
var errNoValue = errors.New("no value")

// label is the name of one of the workload's labels.
func label(form, name string) string {
	if form == Exported {
		return "exported_" + name
	}
	return name
}

// Selector returns the labels of the series of a container in a namespace.
func Selector(form, namespace, container string) map[string]string {
	s := map[string]string{label(form, "container"): container}
	if namespace != "" {
		s[label(form, "namespace")] = namespace
	}
	return s
}

// Matchers formats labels as PromQL: {a="b"}.
func Matchers(labels map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		parts = append(parts, name+"="+strconv.Quote(labels[name]))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// FormOf detects the form from the series, else from the job's honor_labels, else it is
// Plain.
func FormOf(ctx context.Context, p prom.Prometheus, series string, job *prom.Job) (string, error) {
	samples, _, err := p.Query(ctx, "count("+series+`{exported_pod!=""})`, time.Time{})
	if err != nil {
		return Plain, fmt.Errorf("query the workload labels of %s: %w", series, err)
	}
	if len(samples) > 0 || job != nil && !job.HonorLabels {
		return Exported, nil
	}
	return Plain, nil
}

// Query expands the adapter's metricsQuery template; an empty template is that of
// firstlight's rules.
func Query(template, series string, matchers map[string]string, groupBy string, window time.Duration) string {
	inner := strings.TrimSuffix(strings.TrimPrefix(Matchers(matchers), "{"), "}")
	if template == "" {
		if window <= 0 {
			return fmt.Sprintf("avg(%s{%s})", series, inner)
		}
		return fmt.Sprintf("avg(avg_over_time(%s{%s}[%s]))", series, inner, span(window))
	}
	return strings.NewReplacer(
		"<<.Series>>", series, "<< .Series >>", series, "<<.LabelMatchers>>", inner, "<< .LabelMatchers >>", inner,
		"<<.GroupBy>>", groupBy, "<< .GroupBy >>", groupBy,
	).Replace(strings.TrimSpace(template))
}

// span formats a range of at least a millisecond.
func span(d time.Duration) string {
	return model.Duration(max(d, time.Millisecond).Truncate(time.Millisecond)).String()
}

package prom

import (
	"fmt"
	"maps"
	"slices"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// ConnectPrometheus creates a client whose queries select only series with these labels; none: all
// series. The caller closes it.
func ConnectPrometheus(e Endpoint, matchers map[string]string, cluster *kube.Cluster) (Prometheus, error) {
	client, err := Connect(e, cluster)
	if err != nil {
		return Prometheus{}, err
	}
	p := Prometheus{Client: client}
	for _, name := range slices.Sorted(maps.Keys(matchers)) {
		p.matchers = append(p.matchers, labels.MustNewMatcher(labels.MatchEqual, name, matchers[name])) // only regular expressions can be invalid
	}
	return p, nil
}

// All is a client of the same Prometheus whose queries select all series.
func (p Prometheus) All() Prometheus { return Prometheus{Client: p.Client} }

// Expr is the expression that Query sends for expr.
func (p Prometheus) Expr(expr string) string {
	narrowed, err := p.narrow(expr)
	if err != nil {
		return expr // Query returns the error
	}
	return narrowed
}

// narrow adds the matchers to every selector of an expression.
func (p Prometheus) narrow(expr string) (string, error) {
	if len(p.matchers) == 0 {
		return expr, nil
	}
	tree, err := parser.ParseExpr(expr)
	if err != nil {
		return "", fmt.Errorf("add the site's telemetry.matchers: %w", err)
	}
	parser.Inspect(tree, func(n parser.Node, _ []parser.Node) error {
		if s, ok := n.(*parser.VectorSelector); ok {
			s.LabelMatchers = append(s.LabelMatchers, p.matchers...)
		}
		return nil
	})
	return tree.String(), nil
}

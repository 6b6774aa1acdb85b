package prom

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/prometheus/alertmanager/matcher/parse"
	"github.com/prometheus/alertmanager/pkg/labels"
	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// Route is a route of Alertmanager's configuration. Its matchers are parsed by Alertmanager's own
// parser.
type Route struct {
	receiver string
	matchers labels.Matchers
	more     bool // continue
	routes   []Route
}

// maxRouteDepth limits the nesting of routes.
const maxRouteDepth = 64

// Receivers are the names of the receivers that an alert with these labels reaches: those of the
// deepest matching routes, as Alertmanager's dispatcher finds them.
func (r Route) Receivers(alert map[string]string) []string {
	if !r.matches(alert) {
		return nil
	}
	var out []string
	for _, child := range r.routes {
		found := child.Receivers(alert)
		out = append(out, found...)
		if len(found) > 0 && !child.more {
			break
		}
	}
	if len(out) == 0 {
		return []string{r.receiver}
	}
	return slices.Compact(slices.Sorted(slices.Values(out)))
}

// matches reports whether every matcher matches. A missing label is an empty one.
func (r Route) matches(alert map[string]string) bool {
	return !slices.ContainsFunc(r.matchers, func(m *labels.Matcher) bool { return !m.Matches(alert[m.Name]) })
}

// routeConfig is a route as it is written in the configuration.
type routeConfig struct {
	Receiver string            `yaml:"receiver"`
	Match    map[string]string `yaml:"match"`
	MatchRE  map[string]string `yaml:"match_re"`
	Matchers []string          `yaml:"matchers"`
	Continue bool              `yaml:"continue"`
	Routes   []routeConfig     `yaml:"routes"`
}

// ParseRoute parses the routes in the response of /api/v2/status.
func ParseRoute(raw []byte) (Route, error) {
	return guard.Parse("status", func() (Route, error) { return parseRoute(raw) })
}

func parseRoute(raw []byte) (Route, error) {
	var status struct {
		Config struct {
			Original string `json:"original"`
		} `json:"config"`
	}
	if err := json.Unmarshal(raw, &status); err != nil {
		return Route{}, fmt.Errorf("read status: %w", err)
	}
	var config struct {
		Route *routeConfig `yaml:"route"`
	}
	if err := yaml.Unmarshal([]byte(status.Config.Original), &config); err != nil {
		return Route{}, fmt.Errorf("read Alertmanager configuration: %w", err)
	}
	if config.Route == nil {
		return Route{}, errors.New("read Alertmanager configuration: no route")
	}
	return config.Route.parse("", 0)
}

func (c routeConfig) parse(inherited string, depth int) (Route, error) {
	if depth > maxRouteDepth {
		return Route{}, errors.New("read Alertmanager configuration: routes are nested too deeply")
	}
	r := Route{receiver: c.Receiver, more: c.Continue}
	if r.receiver == "" {
		r.receiver = inherited
	}
	for name, value := range c.Match {
		if err := r.add(labels.NewMatcher(labels.MatchEqual, name, value)); err != nil {
			return Route{}, err
		}
	}
	for name, value := range c.MatchRE {
		if err := r.add(labels.NewMatcher(labels.MatchRegexp, name, value)); err != nil {
			return Route{}, err
		}
	}
	for _, text := range c.Matchers {
		found, err := parseMatchers(text)
		if err != nil {
			return Route{}, fmt.Errorf("read Alertmanager configuration: matcher %.200q: %w", text, err)
		}
		r.matchers = append(r.matchers, found...)
	}
	for _, child := range c.Routes {
		route, err := child.parse(r.receiver, depth+1)
		if err != nil {
			return Route{}, err
		}
		r.routes = append(r.routes, route)
	}
	return r, nil
}

func (r *Route) add(m *labels.Matcher, err error) error {
	if err != nil {
		return fmt.Errorf("read Alertmanager configuration: %w", err)
	}
	r.matchers = append(r.matchers, m)
	return nil
}

// parseMatchers tries the current syntax first and then the classic one, as Alertmanager does by
// default.
func parseMatchers(text string) (labels.Matchers, error) {
	if found, err := parse.Matchers(text); err == nil {
		return found, nil
	}
	return labels.ParseMatchers(text)
}

// Routing is the running configuration: its receivers and its routes.
func (a Alertmanager) Routing(ctx context.Context) ([]Receiver, Route, error) {
	raw, err := a.get(ctx, "/api/v2/status", nil)
	if err != nil {
		return nil, Route{}, err
	}
	receivers, err := ParseReceivers(raw)
	if err != nil {
		return nil, Route{}, fmt.Errorf("list receivers of %s: %w", a.name, err)
	}
	route, err := ParseRoute(raw)
	if err != nil {
		return nil, Route{}, fmt.Errorf("list routes of %s: %w", a.name, err)
	}
	return receivers, route, nil
}

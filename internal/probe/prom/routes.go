package prom

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/alertmanager/matcher/parse"
	"github.com/prometheus/alertmanager/pkg/labels"
	"github.com/prometheus/common/model"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// Route is a route of Alertmanager's configuration. Its matchers are parsed by Alertmanager's own
// parser.
type Route struct {
	receiver string
	matchers labels.Matchers
	more     bool // continue
	interval time.Duration
	routes   []Route
}

// maxRouteDepth limits the nesting of routes.
const maxRouteDepth = 64

// defaultGroupInterval is that of Alertmanager.
const defaultGroupInterval = 5 * time.Minute

// Receivers are the names of the receivers that an alert with these labels reaches: those of the
// deepest matching routes, as Alertmanager's dispatcher finds them.
func (r Route) Receivers(alert map[string]string) []string {
	var out []string
	for _, found := range r.matching(alert) {
		out = append(out, found.receiver)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// GroupInterval is the longest wait for the next notification of a group with this alert.
func (r Route) GroupInterval(alert map[string]string) time.Duration {
	var longest time.Duration
	for _, found := range r.matching(alert) {
		longest = max(longest, found.interval)
	}
	return longest
}

// matching are the deepest matching routes.
func (r Route) matching(alert map[string]string) []Route {
	if !r.matches(alert) {
		return nil
	}
	var out []Route
	for _, child := range r.routes {
		found := child.matching(alert)
		out = append(out, found...)
		if len(found) > 0 && !child.more {
			break
		}
	}
	if len(out) == 0 {
		return []Route{r}
	}
	return out
}

// matches reports whether every matcher matches. A missing label is an empty one.
func (r Route) matches(alert map[string]string) bool {
	return matchAll(r.matchers, alert)
}

// routeConfig is a route as it is written in the configuration.
type routeConfig struct {
	Receiver string            `yaml:"receiver"`
	Match    map[string]string `yaml:"match"`
	MatchRE  map[string]string `yaml:"match_re"`
	Matchers []string          `yaml:"matchers"`
	Continue bool              `yaml:"continue"`
	Interval string            `yaml:"group_interval"`
	Routes   []routeConfig     `yaml:"routes"`
}

// ParseRoute parses the routes in the response of /api/v2/status.
func ParseRoute(raw []byte) (Route, error) {
	return guard.Parse("status", func() (Route, error) { return parseRoute(raw) })
}

func parseRoute(raw []byte) (Route, error) {
	var config struct {
		Route *routeConfig `yaml:"route"`
	}
	if err := parseStatus(raw, &config); err != nil {
		return Route{}, err
	}
	if config.Route == nil {
		return Route{}, errors.New("read Alertmanager configuration: no route")
	}
	return config.Route.parse(Route{interval: defaultGroupInterval}, 0)
}

// parseStatus decodes the configuration in the response of /api/v2/status.
func parseStatus(raw []byte, config any) error {
	var status struct {
		Config struct {
			Original string `json:"original"`
		} `json:"config"`
	}
	if err := json.Unmarshal(raw, &status); err != nil {
		return fmt.Errorf("read status: %w", err)
	}
	if status.Config.Original == "" {
		return errors.New("read status: no configuration")
	}
	if err := decodeYAML(status.Config.Original, config); err != nil {
		return fmt.Errorf("read Alertmanager configuration: %w", err)
	}
	return nil
}

func (c routeConfig) parse(parent Route, depth int) (Route, error) {
	if depth > maxRouteDepth {
		return Route{}, errors.New("read Alertmanager configuration: routes are nested too deeply")
	}
	r := Route{receiver: cmp.Or(c.Receiver, parent.receiver), more: c.Continue, interval: parent.interval}
	if c.Interval != "" {
		d, err := model.ParseDuration(c.Interval)
		if err != nil {
			return Route{}, fmt.Errorf("read Alertmanager configuration: group_interval: %w", err)
		}
		r.interval = time.Duration(d)
	}
	var err error
	if r.matchers, err = matchersOf(c.Match, c.MatchRE, c.Matchers); err != nil {
		return Route{}, err
	}
	for _, child := range c.Routes {
		route, err := child.parse(r, depth+1)
		if err != nil {
			return Route{}, err
		}
		r.routes = append(r.routes, route)
	}
	return r, nil
}

// matchersOf are matchers as the configuration has them: equal, regular expressions, and texts.
func matchersOf(equal, regexps map[string]string, texts []string) (labels.Matchers, error) {
	var out labels.Matchers
	for how, values := range map[labels.MatchType]map[string]string{labels.MatchEqual: equal, labels.MatchRegexp: regexps} {
		for name, value := range values {
			m, err := labels.NewMatcher(how, name, value)
			if err != nil {
				return nil, fmt.Errorf("read Alertmanager configuration: %w", err)
			}
			out = append(out, m)
		}
	}
	for _, text := range texts {
		found, err := parseMatchers(text)
		if err != nil {
			return nil, fmt.Errorf("read Alertmanager configuration: matcher %.200q: %w", text, err)
		}
		out = append(out, found...)
	}
	return out, nil
}

func matchAll(matchers labels.Matchers, alert map[string]string) bool {
	return !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(alert[m.Name]) })
}

// parseMatchers tries the current syntax first and then the classic one, as Alertmanager does by
// default.
func parseMatchers(text string) (labels.Matchers, error) {
	if found, err := parse.Matchers(text); err == nil {
		return found, nil
	}
	return labels.ParseMatchers(text)
}

// Routing is what a configuration does with alerts.
type Routing struct {
	Receivers []Receiver
	Route     Route
	Inhibits  Inhibitions
}

// Routing reads the running configuration.
func (a Alertmanager) Routing(ctx context.Context) (Routing, error) {
	var r Routing
	raw, err := a.get(ctx, "/api/v2/status", nil)
	if err != nil {
		return r, err
	}
	if r.Receivers, err = ParseReceivers(raw); err != nil {
		return r, fmt.Errorf("list receivers of %s: %w", a.name, err)
	}
	if r.Route, err = ParseRoute(raw); err != nil {
		return r, fmt.Errorf("list routes of %s: %w", a.name, err)
	}
	if r.Inhibits, err = ParseInhibitions(raw); err != nil {
		return r, fmt.Errorf("list inhibition rules of %s: %w", a.name, err)
	}
	return r, nil
}

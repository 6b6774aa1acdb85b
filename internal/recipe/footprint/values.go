package footprint

import "maps"

// coalesce lays values over a chart's defaults as Helm does: blocks are merged,
// anything else is replaced, and null takes a default away. values is written to,
// and shares blocks with defaults afterwards: it is only read from then on.
func coalesce(values, defaults map[string]any) map[string]any {
	for key, usual := range defaults {
		value, stated := values[key]
		switch {
		case !stated:
			values[key] = usual
		case value == nil:
			delete(values, key)
		default:
			own, isBlock := value.(map[string]any)
			below, wasBlock := usual.(map[string]any)
			if isBlock && wasBlock {
				values[key] = coalesce(maps.Clone(own), below)
			}
		}
	}
	return values
}

// lookup is the value at a path; nil when there is none.
func lookup(v any, path []string) any {
	for _, key := range path {
		block, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = block[key]
	}
	return v
}

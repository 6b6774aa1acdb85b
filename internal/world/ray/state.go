package ray

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
)

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client disconnected
}

// list is the reply of the state API: do_reply with a ListApiResponse. The rows are those that match the request's filters.
func list(w http.ResponseWriter, r *http.Request, all []map[string]any) {
	rows := []map[string]any{}
	for _, row := range all {
		if matches(r.URL.Query(), row) {
			rows = append(rows, row)
		}
	}
	reply(w, map[string]any{"result": true, "msg": "", "data": map[string]any{"result": map[string]any{
		"total": len(all), "num_after_truncation": len(all), "num_filtered": len(rows),
		"result": rows, "partial_failure_warning": "", "warnings": nil,
	}}})
}

// matches applies the filters that compare for equality, without regard to case (do_filter).
func matches(query url.Values, row map[string]any) bool {
	keys, predicates, values := query["filter_keys"], query["filter_predicates"], query["filter_values"]
	for i, key := range keys {
		if i >= len(predicates) || i >= len(values) || predicates[i] != "=" {
			return false
		}
		if have, ok := row[key].(string); !ok || !strings.EqualFold(have, values[i]) {
			return false
		}
	}
	return true
}

func (c *Cluster) version(w http.ResponseWriter, _ *http.Request) {
	reply(w, map[string]any{
		"version": "4", "ray_version": Version, "ray_commit": "", "session_name": "session_2026-11-27_12-00-00_000000_1",
	})
}

func (c *Cluster) listNodes(w http.ResponseWriter, r *http.Request) {
	rows := []map[string]any{}
	for _, n := range c.nodes() {
		resources := map[string]any{"CPU": float64(n.CPUs), "node:" + n.Address: 1.0, "memory": 64e9, "object_store_memory": 20e9}
		if n.Head {
			resources["node:__internal_head__"] = 1.0
		}
		if n.GPUs > 0 {
			resources["GPU"] = float64(n.GPUs)
		}
		rows = append(rows, map[string]any{
			"node_id": n.ID(), "node_ip": n.Address, "is_head_node": n.Head, "state": "ALIVE", "state_message": nil,
			"node_name": n.Address, "resources_total": resources, "labels": map[string]string{"ray.io/node-id": n.ID()},
		})
	}
	list(w, r, rows)
}

func (c *Cluster) listGroups(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance()
	detail := r.URL.Query().Get("detail")
	rows := []map[string]any{}
	for _, g := range c.groups {
		row := map[string]any{"placement_group_id": g.id, "name": g.name, "creator_job_id": g.job, "state": g.state}
		if detail == "1" || detail == "true" || detail == "True" {
			bundles := []map[string]any{}
			for i, node := range g.on {
				bundles = append(bundles, map[string]any{
					"bundle_id":      map[string]any{"placement_group_id": g.id, "bundle_index": i},
					"unit_resources": map[string]float64{"GPU": float64(g.gpus)}, "node_id": node,
				})
			}
			row["bundles"], row["is_detached"] = bundles, false
			row["stats"] = map[string]any{"scheduling_state": g.scheduling, "scheduling_attempt": g.attempts}
		}
		rows = append(rows, row)
	}
	list(w, r, rows)
}

// status is the status of the autoscaler, which also runs where nothing scales.
func (c *Cluster) status(w http.ResponseWriter, _ *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance()
	nodes := c.nodes()
	cpus, gpus, free := 0, 0, 0
	for _, n := range nodes {
		cpus, gpus = cpus+n.CPUs, gpus+n.GPUs
	}
	for _, n := range c.free(nodes) {
		free += n
	}
	usage := map[string]any{"CPU": []float64{0, float64(cpus)}}
	if gpus > 0 {
		usage["GPU"] = []float64{float64(gpus - free), float64(gpus)}
	}
	reply(w, map[string]any{"result": true, "msg": "Got cluster status.", "data": map[string]any{
		"autoscalingStatus": nil, "autoscalingError": nil,
		"clusterStatus": map[string]any{"loadMetricsReport": map[string]any{
			"usage": usage, "resourceDemand": []any{}, "pgDemand": []any{}, "requestDemand": []any{},
		}},
	}})
}

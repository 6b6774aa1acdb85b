package ray

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// maxRows is the largest limit that the state API accepts (RAY_MAX_LIMIT_FROM_API_SERVER); its default is 100.
const maxRows = 10000

// reply is the envelope of the state API.
type reply struct {
	Result *bool  `json:"result"`
	Msg    string `json:"msg"`
	Data   struct {
		Result *struct {
			// Total are those of the cluster, Searched those that the source gave, Matched those of them that match the filter.
			Total    int               `json:"total"`
			Searched *int              `json:"num_after_truncation"`
			Matched  *int              `json:"num_filtered"`
			Rows     []json.RawMessage `json:"result"`
			Partial  string            `json:"partial_failure_warning"`
		} `json:"result"`
	} `json:"data"`
}

// rows are those of a complete reply. A reply that is not complete is an error.
func rows(what string, raw []byte) ([]json.RawMessage, error) {
	list, missing, err := partial(what, raw)
	if err == nil && missing != "" {
		err = fmt.Errorf("the list of %s is not complete: %s", what, missing)
	}
	return list, err
}

// partial are the rows of a reply, and the reason if rows are missing; empty: the reply is complete.
func partial(what string, raw []byte) (list []json.RawMessage, missing string, err error) {
	var r reply
	if err := guard.JSON(raw, &r); err != nil {
		return nil, "", fmt.Errorf("not a reply of Ray's state API: %w", err)
	}
	switch {
	case r.Result == nil:
		return nil, "", errors.New("not a reply of Ray's state API: result not found")
	case !*r.Result:
		return nil, "", fmt.Errorf("the state API cannot list %s: %s", what, r.Msg)
	case r.Data.Result == nil:
		return nil, "", fmt.Errorf("the reply has no %s", what)
	}
	list = r.Data.Result.Rows
	searched, matched := r.Data.Result.Total, len(list)
	if r.Data.Result.Searched != nil {
		searched = *r.Data.Result.Searched
	}
	switch {
	case r.Data.Result.Matched != nil:
		matched = *r.Data.Result.Matched
	case r.Data.Result.Searched == nil:
		matched = r.Data.Result.Total
	}
	switch {
	case r.Data.Result.Partial != "":
		missing = r.Data.Result.Partial
	case r.Data.Result.Total > searched:
		missing = fmt.Sprintf("the head searched %d of %d", searched, r.Data.Result.Total)
	case matched > len(list):
		missing = fmt.Sprintf("%d of %d", len(list), matched)
	}
	return list, missing, nil
}

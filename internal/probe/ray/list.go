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
			Total   int               `json:"total"`
			Rows    []json.RawMessage `json:"result"`
			Partial string            `json:"partial_failure_warning"`
		} `json:"result"`
	} `json:"data"`
}

// rows are those of a reply. A reply that is not complete is an error.
func rows(what string, raw []byte) ([]json.RawMessage, error) {
	var r reply
	if err := guard.JSON(raw, &r); err != nil {
		return nil, fmt.Errorf("not a reply of Ray's state API: %w", err)
	}
	switch {
	case r.Result == nil:
		return nil, errors.New("not a reply of Ray's state API: result not found")
	case !*r.Result:
		return nil, fmt.Errorf("the state API cannot list %s: %s", what, r.Msg)
	case r.Data.Result == nil:
		return nil, fmt.Errorf("the reply has no %s", what)
	case r.Data.Result.Partial != "":
		return nil, fmt.Errorf("the list of %s is not complete: %s", what, r.Data.Result.Partial)
	case r.Data.Result.Total > len(r.Data.Result.Rows):
		return nil, fmt.Errorf("the list of %s is not complete: %d of %d", what, len(r.Data.Result.Rows), r.Data.Result.Total)
	}
	return r.Data.Result.Rows, nil
}

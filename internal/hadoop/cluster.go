// SPDX-License-Identifier: Apache-2.0

package hadoop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// Sites returns the properties of yarn-site.xml and mapred-site.xml in a directory of
// Hadoop's configuration. It returns an empty map if dir is empty or has neither file.
func Sites(dir string) (map[string]string, error) {
	all := map[string]string{}
	if dir == "" {
		return all, nil
	}
	for _, file := range []string{"yarn-site.xml", "mapred-site.xml"} {
		name := filepath.Join(dir, file)
		text, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		site, err := Properties(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		maps.Copy(all, site)
	}
	return all, nil
}

// AskRoom requests the memory of the nodes from ResourceManagers, given as HOST:PORT, over HTTP.
// It returns the first response.
func AskRoom(ctx context.Context, managers []string) (Room, error) {
	var errs []error
	for _, m := range managers {
		room, err := askRoomOf(ctx, "http://"+m)
		if err == nil {
			return room, nil
		}
		errs = append(errs, fmt.Errorf("cannot ask the ResourceManager %s for its nodes: %w", m, err))
	}
	return Room{}, errors.Join(errs...)
}

// askRoomWithin is the limit of the request to one ResourceManager.
const askRoomWithin = 9 * time.Second

// askRoomOf requests the nodes from the ResourceManager at the URL base.
func askRoomOf(ctx context.Context, base string) (room Room, err error) {
	ctx, cancel := context.WithTimeout(ctx, askRoomWithin)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/ws/v1/cluster/nodes", nil)
	if err != nil {
		return room, err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return room, err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	if resp.StatusCode != http.StatusOK {
		return room, fmt.Errorf("it answers %s", resp.Status)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	if err != nil {
		return room, err
	}
	return Nodes(text)
}

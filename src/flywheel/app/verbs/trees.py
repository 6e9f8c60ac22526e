"""The verbs of `api.trees` in process."""

from __future__ import annotations

from flywheel.api import (
    TreeDiff,
    TreeHistory,
    TreeListing,
    TreeMatches,
    TreeText,
)
from flywheel.app.trees import open_view
from flywheel.app.verbs.base import Verbs
from flywheel.tree.view import View


class TreesVerbs(Verbs):
    """See `api.Trees`."""

    def tree_ls(self, *, path: str = "", cwd: str = "", project: str = "", limit: int = 1000) -> TreeListing:
        return self._tree(cwd, project).ls(path, limit)

    def tree_cat(self, *, path: str, cwd: str = "", project: str = "", start: int = 1, lines: int = 2000) -> TreeText:
        return self._tree(cwd, project).cat(path, start, lines)

    def tree_grep(
        self,
        *,
        pattern: str,
        path: str = "",
        cwd: str = "",
        project: str = "",
        ignore_case: bool = False,
        extended: bool = False,
        context: int = 0,
        limit: int = 200,
    ) -> TreeMatches:
        given = {"ignore_case": ignore_case, "extended": extended}
        return self._tree(cwd, project).grep(pattern, path, context=context, limit=limit, **given)

    def tree_tree(self, *, path: str = "", cwd: str = "", project: str = "", depth: int = 3) -> TreeListing:
        return self._tree(cwd, project).tree(path, depth)

    def tree_log(self, *, path: str = "", cwd: str = "", project: str = "", limit: int = 50) -> TreeHistory:
        return self._tree(cwd, project).log(path, limit)

    def tree_diff(self, *, path: str = "", cwd: str = "", project: str = "", change: str = "") -> TreeDiff:
        return self._tree(cwd, project).diff(path, change)

    def _tree(self, cwd: str, project: str) -> View:
        return open_view(self.parts, self.family(cwd, project)[0], self.poke)

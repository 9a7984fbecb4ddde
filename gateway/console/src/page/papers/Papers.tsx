import { useQuery } from "@tanstack/preact-query";
import { useEffect, useRef, useState } from "preact/hooks";
import { useSearchParams } from "wouter-preact";

import { count, counted } from "../../api/format";
import { Answer } from "../../part/Answer";
import { Button } from "../../part/form/Button";
import { Empty } from "../../part/Empty";
import { TO_SEARCH } from "../../part/keyboard";
import { Page } from "../../part/Page";
import { Pager } from "../../part/Pager";
import { PaperRow } from "./PaperRow";
import { FOUND_PAPERS, newestPapers, PAPER_ROWS, papers, type PaperSearch } from "./queries";
import { papersText } from "./text";

function searchOf(address: URLSearchParams): PaperSearch {
  return {
    query: address.get("q") ?? "",
    categories: (address.get("categories") ?? "").split(/[\s,]+/).filter(Boolean),
    onlyContainers: address.get("container") === "1",
  };
}

function addressOf(search: PaperSearch): Record<string, string> {
  return {
    ...(search.query ? { q: search.query } : {}),
    ...(search.categories.length > 0 ? { categories: search.categories.join(" ") } : {}),
    ...(search.onlyContainers ? { container: "1" } : {}),
  };
}

interface FormProps {
  initial: PaperSearch;
  onSearch: (search: PaperSearch) => void;
}

function SearchForm({ initial, onSearch }: FormProps) {
  const [query, setQuery] = useState(initial.query);
  const [categories, setCategories] = useState(initial.categories.join(" "));
  const [onlyContainers, setOnlyContainers] = useState(initial.onlyContainers);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (history.state === TO_SEARCH) field.current?.focus();
  }, []);
  const submit = (event: Event) => {
    event.preventDefault();
    onSearch({ query: query.trim(), categories: categories.split(/[\s,]+/).filter(Boolean), onlyContainers });
  };
  return (
    <form class="search" role="search" onSubmit={submit}>
      <input
        ref={field}
        type="search"
        aria-label={papersText.query}
        placeholder={papersText.query}
        value={query}
        onInput={(event) => setQuery(event.currentTarget.value)}
      />
      <input
        aria-label={papersText.categories}
        placeholder={papersText.categories}
        value={categories}
        onInput={(event) => setCategories(event.currentTarget.value)}
      />
      <label class="check">
        <input type="checkbox" checked={onlyContainers} onChange={(event) => setOnlyContainers(event.currentTarget.checked)} />
        {papersText.container}
      </label>
      <Button kind="main" type="submit">
        {papersText.submit}
      </Button>
    </form>
  );
}

interface ResultsProps {
  search: PaperSearch;
  offset: number;
  onMove: (offset: number) => void;
  onClear: () => void;
}

const isFiltered = (search: PaperSearch) => search.categories.length > 0 || search.onlyContainers;

function Nothing({ children, onClear }: { children: string; onClear: (() => void) | false }) {
  return <Empty action={onClear && <Button onClick={onClear}>{papersText.clear}</Button>}>{children}</Empty>;
}

function Newest({ search, offset, onMove, onClear }: ResultsProps) {
  const hasFilter = isFiltered(search);
  return (
    <Answer query={useQuery(newestPapers(search, offset))}>
      {({ items, total }) =>
        total > 0 ? (
          <>
            <p class="lead">{papersText.newest(counted(total, "paper"))}</p>
            {items.map((paper) => (
              <PaperRow key={paper.arxiv_id} paper={paper} />
            ))}
            <Pager offset={offset} size={PAPER_ROWS} total={total} onMove={onMove} />
          </>
        ) : (
          <Nothing onClear={hasFilter && onClear}>{hasFilter ? papersText.noneOfFilter : papersText.empty}</Nothing>
        )
      }
    </Answer>
  );
}

/** What is found, best first. */
function Found({ search, offset, onMove, onClear }: ResultsProps) {
  return (
    <Answer query={useQuery(papers(search, offset))}>
      {({ items, total }) =>
        total > 0 ? (
          <>
            <p class="lead">{total < FOUND_PAPERS ? papersText.found(counted(total, "paper")) : papersText.foundMost(count(total))}</p>
            {items.map((hit) => (
              <PaperRow key={hit.arxiv_id} paper={hit} score={hit.relevance_score} highlights={hit.highlights} />
            ))}
            <Pager offset={offset} size={PAPER_ROWS} total={total} onMove={onMove} />
          </>
        ) : (
          <Nothing onClear={isFiltered(search) && onClear}>{papersText.none}</Nothing>
        )
      }
    </Answer>
  );
}

export default function Papers() {
  const [address, setAddress] = useSearchParams();
  const search = searchOf(address);
  const offset = Number(address.get("offset") ?? 0) || 0;
  const onSearch = (next: PaperSearch) => setAddress(addressOf(next));
  const Results = search.query ? Found : Newest;
  return (
    <Page title={papersText.title}>
      <SearchForm key={JSON.stringify(search)} initial={search} onSearch={onSearch} />
      <Results
        search={search}
        offset={offset}
        onMove={(next) => setAddress({ ...addressOf(search), offset: String(next) })}
        onClear={() => onSearch({ query: search.query, categories: [], onlyContainers: false })}
      />
    </Page>
  );
}

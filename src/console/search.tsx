import { useEffect, useState } from 'preact/hooks';

/** What is typed, and what of it is searched for: not with every letter. */
export function useSearch() {
  const [typed, setTyped] = useState('');
  const [search, setSearch] = useState('');
  useEffect(() => {
    const later = setTimeout(() => setSearch(typed.trim()), 250);
    return () => clearTimeout(later);
  }, [typed]);
  return { typed, setTyped, search, query: search === '' ? '' : `&search=${encodeURIComponent(search)}` };
}

interface SearchFieldProps {
  readonly by: string;
  readonly typed: string;
  readonly setTyped: (text: string) => void;
}

export function SearchField({ by, typed, setTyped }: SearchFieldProps) {
  return (
    <label class="search">
      <span class="unseen">{by}</span>
      <input type="search" placeholder={by} value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
    </label>
  );
}

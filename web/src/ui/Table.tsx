import { Icon } from "./Icon";

export interface Order<K extends string> {
  by: K;
  descending: boolean;
}

/** The head of a column that sorts the table. */
export function SortHeader<K extends string>({
  column,
  order,
  onOrder,
  children,
  numeric = false,
}: {
  column: K;
  order: Order<K>;
  onOrder(order: Order<K>): void;
  children: string;
  numeric?: boolean;
}) {
  const active = order.by === column;
  return (
    <th
      scope="col"
      className={numeric ? "numeric" : undefined}
      aria-sort={active ? (order.descending ? "descending" : "ascending") : "none"}
    >
      <button
        type="button"
        className="sort"
        onClick={() => onOrder({ by: column, descending: active ? !order.descending : true })}
      >
        {children}
        <Icon name="sort" />
      </button>
    </th>
  );
}
